extension Configuration {
    /// The location where covers are stored.
    package struct Storage: Sendable, Equatable {
        /// The path of the folder.
        package var folder: String

        init(_ input: inout Variables) throws(ConfigError) {
            folder =
                try input.optional("BOOKPLATE_STORAGE", read: Self.path) ?? ".bookplate/objects"
        }

        /// Parses `file:PATH`.
        private static func path(_ text: String) throws(Malformed) -> String {
            if text.hasPrefix("file:"), text.utf8.count > 5 { return String(text.dropFirst(5)) }
            throw Malformed(
                text.hasPrefix("s3://")
                    ? "is on S3, which this version does not support: use file:PATH"
                    : "must be file:PATH")
        }
    }
}
