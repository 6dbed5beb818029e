import BookSources
import Config
import Glibc
import HTTPFetch

/// Checks the URL of the server that apps get, and the proxy that makes the server available there.
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

    /// Returns nothing if there is no proxy. The server does not encrypt connections itself, so a proxy does it for `https`.
    static func proxies(_ configuration: Configuration) -> [CheckResult] {
        guard configuration.environment == .production,
            configuration.publicURL.hasPrefix("https://")
        else { return [] }
        let check = "proxies"
        let trusted = configuration.trustedProxies
        return [
            trusted.isEmpty
                ? .wrong(
                    check,
                    "BOOKPLATE_TRUSTED_PROXIES is not set, so all readers have the address of the proxy and share its limits",
                    "set it to the address of the proxy that terminates TLS, such as 127.0.0.1")
                : .ok(check, "\(trusted.joined(separator: ", ")) may name the address of a reader")
        ]
    }

    /// Sends a request to the public URL. Not every network lets a machine reach its own public address.
    static func response(
        _ configuration: Configuration, isOffline: Bool
    ) async -> [CheckResult] {
        let url = configuration.publicURL
        guard configuration.environment == .production, configuration.isPublicURLSet, !isLocal(url)
        else { return [] }
        let check = "proxy at the public URL"
        if isOffline { return [.skipped(check, "not checked (--offline)")] }
        let hostName = host(of: url)
        guard let allowed = try? FetchAllowList(parsing: hostName) else { return [] }
        var policy = FetchPolicy(userAgent: "bookplate", allowed: allowed)
        policy.readsCertificates = true
        do throws(FetchError) {
            // After a redirect, the certificate could be that of another server.
            let response = try await Fetcher(policy: policy).fetch(
                FetchRequest(
                    url: "\(url)/graphql?query=%7B__typename%7D", deadline: .seconds(5),
                    truncatesBody: true, redirectsMax: 0))
            return [result(check, url, status: response.status)]
                + certificate(of: hostName, expiresAt: response.certificateExpiry, now: time(nil))
        } catch .hostNotFound {
            return [
                .wrong(
                    check, "the host name of \(url) does not resolve",
                    "add it to the DNS, or correct BOOKPLATE_PUBLIC_URL")
            ]
        } catch .tlsFailed {
            return [
                .wrong(
                    check, "apps cannot use the certificate of \(url)",
                    "renew it, and check that it is for this host name")
            ]
        } catch {
            return [
                .warning(
                    check, "\(url) cannot be reached from this machine (\(error))",
                    "start the server and the proxy, and try the URL from another machine")
            ]
        }
    }

    /// Not all apps send a mutation again to the target of a redirect.
    static func result(_ check: String, _ url: String, status: Int) -> CheckResult {
        switch status {
        case 300..<400:
            .warning(
                check, "\(url) redirects requests to another URL (status \(status))",
                "set BOOKPLATE_PUBLIC_URL to the URL that responds itself, or correct the proxy")
        case 500...:
            .warning(
                check, "\(url) responds with status \(status)",
                "start the server, and check the proxy's address of it")
        default: .ok(check, "responds (status \(status))")
        }
    }

    /// Certificates of Let's Encrypt are normally renewed 30 days before they expire.
    private static let certificateDaysMin = 14

    /// Returns nothing without TLS.
    static func certificate(of host: String, expiresAt expiry: Int?, now: Int) -> [CheckResult] {
        guard let expiry else { return [] }
        let check = "certificate"
        let days = (expiry - now) / 86_400
        let text = "the certificate of \(host) expires in \(days) day\(days == 1 ? "" : "s")"
        return [
            days < certificateDaysMin
                ? .warning(
                    check, text,
                    "renew it, and find out why that was not done automatically, such as with certbot renew --dry-run"
                ) : .ok(check, text)
        ]
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
