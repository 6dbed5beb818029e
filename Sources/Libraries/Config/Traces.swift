extension Configuration {
    /// Where traces are sent to, and how many.
    package struct Traces: Sendable, Equatable {
        /// The URL of a collector for OTLP/HTTP, with the path, such as `http://localhost:4318/v1/traces`.
        package var url: String
        /// The share of traces to record, from 0 to 1. It does not apply if a trusted proxy sends a `traceparent`.
        package var share: Double

        /// nil if no URL is configured.
        init?(_ input: inout Variables) throws(ConfigError) {
            let url = try input.optional(
                "BOOKPLATE_TRACES_URL", read: Read.url("https", "http"))
            share = try input.optional("BOOKPLATE_TRACES_SHARE", read: Self.share) ?? 1
            guard let url else { return nil }
            self.url = url
        }

        private static func share(_ text: String) throws(Malformed) -> Double {
            guard let share = Double(text), (0...1).contains(share) else {
                throw Malformed("must be a number from 0 to 1, such as 0.1")
            }
            return share
        }
    }
}
