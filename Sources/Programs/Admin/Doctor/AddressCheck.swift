import Config

/// Checks the URL of the server that apps get.
enum AddressCheck {
    private static let check = "public URL"
    private static let remedy =
        "set BOOKPLATE_PUBLIC_URL to the URL of the server as apps see it, such as https://books.example.com"

    static func result(_ configuration: Configuration) -> CheckResult {
        let url = configuration.publicURL
        guard configuration.environment == .production else {
            return .ok(check, "\(url), in development")
        }
        if !configuration.isPublicURLSet { return .wrong(check, "it is not set", remedy) }
        if isLocal(url) {
            return .wrong(check, "apps on other machines cannot use \(url)", remedy)
        }
        return url.hasPrefix("https://")
            ? .ok(check, url)
            : .warning(
                check, "\(url) is not encrypted: apps for iOS and Android refuse it",
                "use TLS, and a URL that starts with https://")
    }

    /// Whether the host of a URL is this machine.
    static func isLocal(_ url: String) -> Bool {
        guard let scheme = url.firstRange(of: "://") else { return false }
        let authority = url[scheme.upperBound...].prefix { $0 != "/" }.lowercased()
        if authority.hasPrefix("[::1]") { return true }
        let host = authority.prefix { $0 != ":" }
        return host == "localhost" || host.hasSuffix(".localhost") || host == "0.0.0.0"
            || host.wholeMatch(of: /127(\.[0-9]+){3}/) != nil
    }
}
