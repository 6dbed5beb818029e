import EventLoops
import Postgres
import Synchronization

/// The databases that this process serves, and those in which it has found accounts.
///
/// An account is in one database with all its rows. Requests start in the *home* database, the first one. If it does not have the
/// session of the caller, the request looks for the account in all databases, and continues in the one that has it. Requests of accounts in
/// the home database need no search.
package final class UserDatabases: Sendable {
    /// A database and the services that use it.
    package struct Database: Sendable {
        let services: Services
        private let pools: [ObjectIdentifier: ConnectionPool]

        /// - Parameter pools: The connection pools by the identity of their event loop.
        package init(_ services: Services, pools: [ObjectIdentifier: ConnectionPool]) {
            self.services = services
            self.pools = pools
        }

        /// A pool for work that does not belong to an event loop.
        var anyPool: ConnectionPool? { pools.values.first }

        /// The pool on an event loop; nil if the database has none there.
        func pool(on executor: EventLoopTaskExecutor) -> ConnectionPool? {
            pools[ObjectIdentifier(executor.eventLoop)]
        }
    }

    /// The maximum number of remembered users. A full cache is cleared. Each active account outside the home database is then searched
    /// again.
    private static let usersMax = 100_000

    private struct State {
        var databases: [Database] = []
        /// The index in `databases` of the database in which each user was last found.
        var indexes: [UUID: Int] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// Adds a database. The first one is the home database.
    package func add(_ database: Database) {
        state.withLock { $0.databases.append(database) }
    }

    /// Removes all databases, because their services refer to this object, so that neither would be released.
    package func removeAll() {
        state.withLock { $0 = State() }
    }

    /// All databases. The first one is the home database.
    var all: [Database] { state.withLock(\.databases) }

    /// The database in which a user was found last; nil if that is unknown.
    func database(of user: UUID) -> Database? {
        state.withLock { state in state.indexes[user].map { state.databases[$0] } }
    }

    /// Remembers the database in which a user was found.
    func remember(_ user: UUID, in services: Services) {
        state.withLock { state in
            guard let index = state.databases.firstIndex(where: { $0.services === services })
            else { return }
            if state.indexes.count >= Self.usersMax { state.indexes.removeAll() }
            state.indexes[user] = index
        }
    }
}
