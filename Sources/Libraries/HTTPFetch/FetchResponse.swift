/// A complete response, whatever its status.
package struct FetchResponse: Sendable {
    package var status: Int
    /// The headers in the order received, with names as the server spelled them.
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]
    /// The URL of the last hop, after redirects.
    package var url: String
    /// When the certificate of the server expires, as a Unix time; nil if the policy does not ask for it, or without TLS.
    package var certificateExpiry: Int?

    package init(
        status: Int, headers: [(name: String, value: String)], body: [UInt8], url: String
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.url = url
    }

    /// Returns the first header with this name, ignoring ASCII case.
    package func header(_ name: String) -> String? {
        headers.first { equalIgnoringCase($0.name, name) }?.value
    }

    /// The `max-age` of Cache-Control in seconds; nil if it is absent or malformed, or with `no-store` or
    /// `no-cache`.
    package var maxAgeSeconds: Int? {
        var found: Int?
        for header in headers where equalIgnoringCase(header.name, "cache-control") {
            for part in header.value.split(separator: ",") {
                let directive = part.drop { $0 == " " }.lowercased()
                if directive.hasPrefix("no-store") || directive.hasPrefix("no-cache") { return nil }
                if directive.hasPrefix("max-age=") {
                    let digits = directive.dropFirst(8).prefix { $0.isASCII && $0.isNumber }
                    found = found ?? Int(digits)
                }
            }
        }
        return found
    }
}

/// Compares two texts, ignoring the case of A to Z only, as for header names.
func equalIgnoringCase(_ a: String, _ b: String) -> Bool {
    func folded(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
    return a.utf8.elementsEqual(b.utf8) { folded($0) == folded($1) }
}
