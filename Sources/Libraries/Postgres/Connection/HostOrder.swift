import CLibPQ
import Synchronization

/// The order in which the hosts of a connection string are tried.
///
/// libpq always tries them in the order of the connection string. If the first host does not respond, each new connection would
/// wait for its timeout. Therefore the host that answered last is tried first, and a host to which a connection was lost is tried
/// last, until one of them answers.
struct HostOrder {
    /// The hosts of a connection string, in its order.
    private struct Host: Equatable {
        var name: String?
        var address: String?
        var port: String?
    }

    private let hosts: [Host]
    /// The indices of the hosts in the order in which they are tried.
    private(set) var indices: [Int]

    /// The orders of the connection strings with more than one host.
    private static let orders = Mutex<[String: HostOrder]>([:])

    /// Returns nil if the connection string has at most one host, or is not valid.
    init?(_ url: String) {
        guard let settings = try? ConnectionString(url) else { return nil }
        let names = Self.list(settings["host"])
        let addresses = Self.list(settings["hostaddr"])
        let ports = Self.list(settings["port"])
        let count = max(names.count, addresses.count)
        // libpq refuses lists of different lengths.
        guard count > 1, [0, count].contains(names.count), [0, count].contains(addresses.count),
            [0, 1, count].contains(ports.count)
        else { return nil }
        hosts = (0..<count).map { index in
            Host(
                name: names.isEmpty ? nil : names[index],
                address: addresses.isEmpty ? nil : addresses[index],
                port: ports.isEmpty ? nil : ports.count == 1 ? ports[0] : ports[index])
        }
        indices = Array(0..<count)
    }

    /// The settings that make libpq try the hosts in this order.
    var settings: [(key: String, value: String)] {
        let ordered = indices.map { hosts[$0] }
        var settings: [(key: String, value: String)] = []
        for (key, values) in [
            ("host", ordered.compactMap(\.name)), ("hostaddr", ordered.compactMap(\.address)),
            ("port", ordered.compactMap(\.port)),
        ] where values.count == ordered.count {
            settings.append((key, values.joined(separator: ",")))
        }
        return settings
    }

    /// Moves a host to the front.
    mutating func answered(_ index: Int) {
        indices.removeAll { $0 == index }
        indices.insert(index, at: 0)
    }

    /// Moves a host to the end.
    mutating func lost(_ index: Int) {
        indices.removeAll { $0 == index }
        indices.append(index)
    }

    /// Returns the index of the host of a connection.
    func index(name: String, port: String) -> Int? {
        hosts.firstIndex { host in
            (host.name ?? host.address) == name && (host.port ?? "5432") == port
        }
    }

    /// Splits a list as libpq does: an empty element means the default.
    private static func list(_ text: String?) -> [String] {
        text?.split(separator: ",", omittingEmptySubsequences: false).map(String.init) ?? []
    }
}

// MARK: The orders of this process

extension HostOrder {
    /// Returns the settings that follow the connection string; empty if it has one host.
    static func settings(of url: String) -> [(key: String, value: String)] {
        let known = orders.withLock { $0[url] }
        return (known ?? HostOrder(url))?.settings ?? []
    }

    /// Records that the host of a connection has answered.
    static func answered(_ url: String, _ connection: OpaquePointer) {
        update(url, connection) { $0.answered($1) }
    }

    /// Records that a connection was lost because of an I/O error.
    static func lost(_ url: String, _ connection: OpaquePointer) {
        update(url, connection) { $0.lost($1) }
    }

    private static func update(
        _ url: String, _ connection: OpaquePointer, _ change: (inout HostOrder, Int) -> Void
    ) {
        guard let name = PQhost(connection), let port = PQport(connection) else { return }
        orders.withLock { orders in
            guard var order = orders[url] ?? HostOrder(url),
                let index = order.index(
                    name: String(cString: name), port: String(cString: port))
            else { return }
            change(&order, index)
            orders[url] = order
        }
    }
}
