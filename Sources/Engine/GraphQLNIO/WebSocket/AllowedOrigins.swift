/// The origins whose pages may open a WebSocket, or call tools.
///
/// Browsers let any page open a WebSocket, without a CORS preflight. Other clients send no `origin` header.
package struct AllowedOrigins: Sendable {
    /// Origins in lower case, such as `https://app.example.com`.
    private let listed: Set<String>
    private let allowsAll: Bool

    /// - Parameter list: Origins in addition to the server's own. `*` allows all.
    package init(_ list: [String]) {
        listed = Set(list.map { $0.lowercased() })
        allowsAll = list.contains("*")
    }

    /// Returns whether a page of this origin may open a WebSocket.
    ///
    /// - Parameter host: The value of the `host` header.
    func allows(_ origin: String?, host: String?) -> Bool {
        guard let origin = origin?.lowercased() else { return true }
        if allowsAll || listed.contains(origin) { return true }
        // A page of the same host, on any port: browsers consider it the same site.
        guard let host = host.map({ Self.name($0.lowercased()[...]) }), !host.isEmpty,
            let scheme = ["https://", "http://"].first(where: { origin.hasPrefix($0) })
        else { return false }
        return Self.name(origin.dropFirst(scheme.count)) == host
    }

    /// Returns whether the list contains the origin. A request without an origin is not from a page.
    ///
    /// Unlike `allows`, this ignores the `host` header: after DNS rebinding, it contains the name of the attacker's page.
    package func lists(_ origin: String?) -> Bool {
        guard let origin = origin?.lowercased() else { return true }
        return allowsAll || listed.contains(origin)
    }

    /// Returns the host without its port.
    private static func name(_ authority: Substring) -> Substring {
        if authority.first == "[" { return authority.prefix { $0 != "]" } }
        return authority.prefix { $0 != ":" && $0 != "/" }
    }
}
