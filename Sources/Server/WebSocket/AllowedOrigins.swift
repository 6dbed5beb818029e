/// The origins whose pages may open a WebSocket.
///
/// Browsers let any page try, and send no preflight. Programs that are no browsers send no origin.
package struct AllowedOrigins: Sendable {
    /// In lower case: `https://app.example.com`.
    private let listed: Set<String>
    private let allowsAll: Bool

    /// - Parameter list: origins besides the server's own; `*` is all.
    package init(_ list: [String]) {
        listed = Set(list.map { $0.lowercased() })
        allowsAll = list.contains("*")
    }

    /// - Parameter host: the name that the client knows this server by, with its port.
    func allows(_ origin: String?, host: String?) -> Bool {
        guard let origin = origin?.lowercased() else { return true }
        if allowsAll || listed.contains(origin) { return true }
        // A page of this very host, whatever its port: browsers count it as the same site.
        guard let host = host.map({ Self.name($0.lowercased()[...]) }), !host.isEmpty,
            let scheme = ["https://", "http://"].first(where: { origin.hasPrefix($0) })
        else { return false }
        return Self.name(origin.dropFirst(scheme.count)) == host
    }

    /// The host without its port.
    private static func name(_ authority: Substring) -> Substring {
        if authority.first == "[" { return authority.prefix { $0 != "]" } }
        return authority.prefix { $0 != ":" && $0 != "/" }
    }
}
