import CLibPQ
import Glibc
import Synchronization

/// The kind of connection pooler between this process and the database.
package enum Pooler: Sendable, Equatable {
    /// None, or one that is not visible, such as Pgpool-II, which gives each client a session of its own.
    case none
    /// Each client has a session of its own while it is connected.
    case session
    /// The transactions of a client run in sessions that it shares with other clients. Prepared statements, settings, LISTEN, and
    /// advisory locks of a session therefore do not work.
    case transaction
    /// Pgpool-II in its mode `raw`, which confirms writes of the extended protocol and does not commit them.
    case raw
    /// There is one, but its mode could not be determined.
    case unknown

    /// The reason why a connection through a pooler in transaction mode is refused.
    package static let refusal =
        "a connection pooler in transaction mode is between this program and the database: "
        + "let it use session mode, for PgBouncer pool_mode = session, or connect directly"
    /// The reason why a connection through Pgpool-II in its mode `raw` is refused.
    package static let rawRefusal =
        "Pgpool-II in its mode raw is between this program and the database, and confirms writes that it does not commit: "
        + "let it use backend_clustering_mode = 'streaming_replication', or connect directly"
    /// The reason why it could not be determined whether a connection is to be refused.
    package static let undetermined =
        "a connection pooler is between this program and the database, and it could not be determined whether it is in "
        + "session mode, because it gave no session to a second connection in time"
}

/// The modes of the poolers that connections have found, by address.
///
/// A mode is determined by connections, which can take as long as their timeouts. Only connections to the same address wait for it.
final class PoolerModes: Sendable {
    /// Whether a second connection gets the session of the first one.
    enum Sharing {
        case shared, separate, unknown
    }

    /// The pooler at one address.
    private final class Known: Sendable {
        /// When the pooler was last in session mode; nil if it was not, or if its mode has not been determined. Locked while the mode
        /// is determined, so that connections that are opened at the same time wait for the first one of them.
        let sessionModeAt = Mutex<ContinuousClock.Instant?>(nil)
    }

    /// The time after which the mode is determined again, since an operator may change it.
    static let validity = Duration.seconds(60)

    private let known = Mutex<[String: Known]>([:])

    /// Returns the kind of the pooler at an address.
    ///
    /// - Parameter determine: Called unless the pooler was in session mode a short time ago.
    func pooler(
        at address: String, _ determine: () throws(PostgresError) -> Sharing
    ) throws(PostgresError) -> Pooler {
        try entry(address).sessionModeAt.withLock { at throws(PostgresError) in
            if let last = at, .now - last < Self.validity { return .session }
            switch try determine() {
            case .shared:
                at = nil
                return .transaction
            case .separate:
                at = .now
                return .session
            case .unknown:
                // If all sessions of the pooler are in use, the mode cannot be determined again. The earlier result still
                // counts.
                return at == nil ? .unknown : .session
            }
        }
    }

    private func entry(_ address: String) -> Known {
        known.withLock { known in
            if let found = known[address] { return found }
            let new = Known()
            known[address] = new
            return new
        }
    }
}

extension OpenedConnection {
    private static let modes = PoolerModes()
    private static let probeTimeout = Duration.seconds(2)

    /// Returns the kind of pooler.
    ///
    /// A pooler such as PgBouncer gives its clients another process ID than that of the database session. If the two differ,
    /// a second connection opens a transaction. In transaction mode, either the second connection gets the session of this one, or
    /// this one then has to use another session.
    ///
    /// - Throws: `.connectFailed` if the connection does not answer in time.
    func pooler(_ configuration: PostgresConfiguration) throws(PostgresError) -> Pooler {
        let first = try answer(Self.processID)
        if first == String(PQbackendPID(pointer)) {
            return isBehindRawPgpool(configuration, clientPort: try answer(Self.clientPort))
                ? .raw : .none
        }
        // The hosts of a connection string may have poolers of their own.
        let (host, port) = (PQhost(pointer), PQport(pointer))
        let address =
            [configuration.url] + [host, port].map { $0.map { String(cString: $0) } ?? "" }
        return try Self.modes.pooler(at: address.joined(separator: " ")) {
            () throws(PostgresError) in
            try sharesSessions(first: first, configuration)
        }
    }

    private static let processID = "SELECT pg_backend_pid()"
    /// The TCP port of the database's client; an empty string for a Unix socket.
    private static let clientPort = "SELECT coalesce(inet_client_port()::text, '')"

    private func sharesSessions(
        first: String, _ configuration: PostgresConfiguration
    ) throws(PostgresError) -> PoolerModes.Sharing {
        guard let other = try? OpenedConnection.open(configuration) else { return .unknown }
        defer { PQfinish(other.pointer) }
        guard let second = try? other.answer("BEGIN; \(Self.processID)", within: Self.probeTimeout)
        else { return .unknown }
        if second == first { return .shared }
        // Several times, since other connections of the pooler may be in use, so that the first session is free by chance.
        for _ in 0..<10 {
            if try answer(Self.processID) != first { return .shared }
        }
        return .separate
    }

    /// Runs statements and returns the first value of the last one.
    ///
    /// - Throws: `.connectFailed` if a statement fails or does not end in time, or if the last one returns no row.
    private func answer(
        _ sql: String, within timeout: Duration = responseTimeout
    ) throws(PostgresError) -> String {
        let result = try execute(sql, within: timeout)
        defer { PQclear(result) }
        guard PQntuples(result) > 0 else { throw .connectFailed("no process ID") }
        return String(cString: PQgetvalue(result, 0, 0))
    }
}

extension OpenedConnection {
    /// The connection strings that do not lead to Pgpool-II in its mode `raw`, and when that was determined.
    private static let isNotRaw = Mutex<[String: ContinuousClock.Instant]>([:])

    /// Returns whether Pgpool-II in its mode `raw` is between this program and the database.
    ///
    /// Only a proxy connects to the database from another port than this connection has. Its own statement asks Pgpool-II for its
    /// mode. A database behind another proxy refuses that statement, and logs an error, once per minute and connection string.
    ///
    /// - Parameter clientPort: The result of the statement `clientPort`.
    func isBehindRawPgpool(_ configuration: PostgresConfiguration, clientPort: String) -> Bool {
        guard clientPort != localPort.map(String.init) ?? "" else { return false }
        if let at = Self.isNotRaw.withLock({ $0[configuration.url] }),
            .now - at < PoolerModes.validity
        {
            return false
        }
        let mode = try? answer("PGPOOL SHOW backend_clustering_mode", within: Self.probeTimeout)
        if mode == "raw" { return true }
        Self.isNotRaw.withLock { $0[configuration.url] = .now }
        return false
    }

    /// The TCP port of this end of the connection; nil for a Unix socket.
    private var localPort: UInt16? {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutableBytes(of: &address) { bytes in
            guard let raw = bytes.baseAddress,
                getsockname(PQsocket(pointer), raw.assumingMemoryBound(to: sockaddr.self), &length)
                    == 0
            else { return nil }
            switch Int32(raw.load(as: sockaddr.self).sa_family) {
            case AF_INET: return UInt16(bigEndian: raw.load(as: sockaddr_in.self).sin_port)
            case AF_INET6: return UInt16(bigEndian: raw.load(as: sockaddr_in6.self).sin6_port)
            default: return nil
            }
        }
    }
}

extension OpenedConnection {
    /// How long a new connection waits for the result of a statement. A pooler accepts connections even if all of its sessions
    /// are in use.
    static let responseTimeout = Duration.seconds(10)

    /// Runs statements while blocking the thread, and returns the result of the last one, which the caller must free.
    ///
    /// - Throws: `.connectFailed` if a statement fails or does not end in time. The connection cannot be used then.
    func execute(
        _ sql: String, within timeout: Duration = responseTimeout
    ) throws(PostgresError) -> OpaquePointer {
        guard PQsendQuery(pointer, sql) == 1 else { throw .connectFailed(errorMessage(pointer)) }
        let deadline = ContinuousClock.now + timeout
        var last: OpaquePointer?
        while true {
            do throws(PostgresError) {
                while PQisBusy(pointer) == 1 { try waitForInput(until: deadline) }
            } catch {
                PQclear(last)
                throw error
            }
            guard let result = PQgetResult(pointer) else { break }
            PQclear(last)
            last = result
        }
        guard let last, [PGRES_TUPLES_OK, PGRES_COMMAND_OK].contains(PQresultStatus(last)) else {
            PQclear(last)
            throw .connectFailed(errorMessage(pointer))
        }
        return last
    }

    private func waitForInput(
        until deadline: ContinuousClock.Instant
    ) throws(PostgresError) {
        let left = ContinuousClock.now.duration(to: deadline).timeoutMilliseconds
        var watched = pollfd(fd: PQsocket(pointer), events: Int16(POLLIN), revents: 0)
        let count = left > 0 ? poll(&watched, 1, left) : 0
        if count < 0, errno == EINTR { return }
        guard count > 0 else { throw .connectFailed("the database did not answer in time") }
        guard PQconsumeInput(pointer) == 1 else { throw .connectFailed(errorMessage(pointer)) }
    }
}
