/// A redirect URI of an app: where the browser returns with the authorization code.
///
/// It is an `https` URL, an `http` URL of the reader's own machine, a URI with a private scheme that contains a period, or one
/// with the scheme of a known editor.
///
/// Spec: RFC 8252, section 7
package struct RedirectURI: Equatable {
    private static let bytesMax = 500
    /// Editors whose assistants have these private schemes, which contain no period.
    private static let editorSchemes = ["cursor", "vscode", "vscode-insiders", "windsurf", "zed"]
    private static let loopbackHosts = ["127.0.0.1", "[::1]", "localhost"]

    let text: String
    /// The host in lower case, for the reader; nil for a private scheme.
    let host: String?
    /// The host, and the path with the query, of a loopback URL; nil for other URIs. The port is left out, because an app
    /// chooses it when it starts.
    private let loopback: [String]?
    private let scheme: String

    /// Returns nil for a text that may not be a redirect URI.
    package init?(_ text: String) {
        guard text.utf8.count <= Self.bytesMax,
            // Printable ASCII without spaces, fragments, and characters that a URI cannot contain.
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !#"#"<>\^`{|}"#.utf8.contains($0) }),
            let colon = text.firstIndex(of: ":")
        else { return nil }
        let scheme = text[..<colon].lowercased()
        let rest = text[text.index(after: colon)...]
        self.text = text
        self.scheme = scheme
        guard ["http", "https"].contains(scheme) else {
            // Without the period, it could be `javascript` or `data`, which run in the page of this server.
            guard scheme.contains(".") || Self.editorSchemes.contains(scheme),
                scheme.first?.isLetter == true,
                scheme.allSatisfy({ $0.isLetter || $0.isNumber || "+-.".contains($0) }),
                !rest.isEmpty
            else { return nil }
            host = nil
            loopback = nil
            return
        }
        guard rest.hasPrefix("//") else { return nil }
        let authority = rest.dropFirst(2).prefix { $0 != "/" && $0 != "?" }
        let remainder = rest.dropFirst(2 + authority.count)
        let hostEnd =
            authority.hasPrefix("[")
            ? authority.firstIndex(of: "]").map { authority.index(after: $0) }
            : authority.firstIndex(of: ":")
        let host = authority[..<(hostEnd ?? authority.endIndex)].lowercased()
        let port = authority[(hostEnd ?? authority.endIndex)...]
        guard !host.isEmpty, !authority.contains("@"),
            port.isEmpty || (port.first == ":" && UInt16(port.dropFirst()) != nil)
        else { return nil }
        let isLoopback = scheme == "http" && Self.loopbackHosts.contains(host)
        guard scheme == "https" || isLoopback else { return nil }
        self.host = host
        loopback = isLoopback ? [host, String(remainder)] : nil
    }

    /// A name for an app that has none: the host or the private scheme; nil for the reader's own machine.
    var appName: String? { loopback == nil ? host ?? scheme : nil }

    /// Whether an app that has registered this URI may send the other one. The two must be equal, except for the port of
    /// a loopback URL.
    func allows(_ other: RedirectURI) -> Bool {
        text == other.text || (loopback != nil && loopback == other.loopback)
    }
}
