import Glibc
import NIOPosix
import Postgres
import Synchronization

/// A PostgreSQL cluster that creates databases for tests as copies of one migrated template.
///
/// The template is migrated once per test process by the real migrator, as a role that is not a superuser.
package actor TestCluster {
    /// The cluster that `BOOKPLATE_TEST_DATABASE_URL` refers to.
    package static let shared = TestCluster(
        superuserURL: getenv("BOOKPLATE_TEST_DATABASE_URL").map { String(cString: $0) })

    /// The role that owns the tables.
    package static let owner = "bookplate_test_owner"
    /// The role that the server connects as.
    package static let app = "bookplate_app"

    /// Nil if the environment variable is not set.
    private let configuredURL: String?
    private var template: Task<String, any Error>?
    private var databaseCount = 0
    private let released = ReleasedDatabases()
    /// The number of released databases that stay. A test may have released an object and still use the URL of its
    /// database.
    private static let keptCount = 30

    package init(superuserURL: String?) { configuredURL = superuserURL }

    /// Creates a copy of the migrated database. It is dropped some time after the last copy of the value is released,
    /// so that the disk does not have to hold the databases of all tests at once.
    package func makeDatabase() async throws -> TestDatabase {
        try await makeDatabase(template: migrated())
    }

    /// Creates a database without tables.
    package func makeEmptyDatabase() async throws -> TestDatabase {
        _ = try await migrated()  // creates the roles
        return try await makeDatabase(template: "template0")
    }

    private func makeDatabase(template: String) async throws -> TestDatabase {
        databaseCount += 1
        let name = "bookplate_test_\(getpid())_\(databaseCount)"
        let superuser = try superuserURL
        let released = released
        try await blocking {
            let connection = try AdminConnection(superuser)
            var used: [String] = []
            for database in released.takeOldest(keeping: Self.keptCount)
            where (try? Self.dropIfUnused(database, connection)) != true {
                used.append(database)
            }
            released.putBack(used)
            try connection.execute(
                "CREATE DATABASE \(name) TEMPLATE \(template) OWNER \(Self.owner)")
        }
        return TestDatabase(name: name, superuserURL: superuser, released: released)
    }

    /// Returns false if the database has connections. PostgreSQL itself would wait five seconds for their end.
    private static func dropIfUnused(_ name: String, _ connection: AdminConnection) throws -> Bool {
        let connections = try connection.query(
            "SELECT FROM pg_stat_activity WHERE datname = '\(name)'")
        guard connections.count == 0 else { return false }
        try connection.execute("DROP DATABASE \(name)")
        return true
    }

    private func migrated() async throws -> String {
        if let template { return try await template.value }
        let superuser = try superuserURL
        let task = Task { try await Self.migrate(superuser) }
        template = task
        return try await task.value
    }

    private static func migrate(_ superuser: String) async throws -> String {
        let name = "bookplate_template_\(getpid())"
        try await blocking {
            let connection = try AdminConnection(superuser)
            for role in [owner, app] {
                try connection.execute(
                    """
                    DO $$ BEGIN CREATE ROLE \(role) LOGIN;
                    EXCEPTION WHEN duplicate_object OR unique_violation THEN END $$
                    """)
            }
            try connection.execute("CREATE DATABASE \(name) OWNER \(owner)")
            let database = TestDatabase(name: name, superuserURL: superuser)
            let ownerURL = try database.url(as: owner)
            try Migrator(try AdminConnection(ownerURL), folder: migrations).up()
        }
        return name
    }

    private var superuserURL: String {
        get throws {
            guard let configuredURL else { throw MissingURL() }
            return configuredURL
        }
    }

    private struct MissingURL: Error, CustomStringConvertible {
        let description =
            "set BOOKPLATE_TEST_DATABASE_URL to the URL of a superuser, as scripts/test does"
    }

    /// The path of the project's root folder.
    package static let project = #filePath.split(
        separator: "/", omittingEmptySubsequences: false
    ).dropLast(4).joined(separator: "/")

    package static let migrations = project + "/migrations"
}

/// A database that one test, or one suite of tests, has for itself.
package struct TestDatabase: Sendable {
    package let name: String
    private let superuserURL: String
    private let lifetime: DatabaseLifetime?

    package init(name: String, superuserURL: String) {
        self.init(name: name, superuserURL: superuserURL, released: nil)
    }

    fileprivate init(name: String, superuserURL: String, released: ReleasedDatabases?) {
        self.name = name
        self.superuserURL = superuserURL
        lifetime = released.map { DatabaseLifetime(name, $0) }
    }

    /// - Parameter cluster: the superuser's URL of another cluster that has the same database, such as a standby.
    package func url(as role: String? = nil, on cluster: String? = nil) throws -> String {
        var string = try ConnectionString(cluster ?? superuserURL)
        string["dbname"] = name
        if let role { string["user"] = role }
        return string.description
    }

    /// Runs `work` with a new connection that does not belong to the server, on a thread that may block.
    ///
    /// - Parameter role: nil for the superuser.
    package func withConnection<Value: Sendable>(
        as role: String? = TestCluster.owner,
        _ work: @Sendable @escaping (AdminConnection) throws -> Value
    ) async throws -> Value {
        let url = try url(as: role)
        return try await blocking { try work(try AdminConnection(url)) }
    }

    /// Runs SQL as the owner of the tables.
    package func execute(_ sql: String) async throws {
        try await withConnection { try $0.execute(sql) }
    }

    /// Returns the first column of the first row as an integer; -1 if there is none.
    package func count(_ sql: String) async throws -> Int {
        try await withConnection { Int(try $0.query(sql).int64(0, 0) ?? -1) }
    }

    /// Returns the value of a subquery as text; an empty string for NULL. Works for every SQL type, including enums.
    package func text(_ sql: String) async throws -> String {
        try await withConnection { try $0.query("SELECT (\(sql))::text").text(0, 0) ?? "" }
    }
}

/// Ends when the last copy of a `TestDatabase` is released.
private final class DatabaseLifetime: Sendable {
    private let name: String
    private let released: ReleasedDatabases

    init(_ name: String, _ released: ReleasedDatabases) {
        self.name = name
        self.released = released
    }

    deinit { released.append(name) }
}

/// The names of databases that no test holds any longer, in the order of their release.
private final class ReleasedDatabases: Sendable {
    private let names = Mutex<[String]>([])

    func append(_ name: String) {
        names.withLock { $0.append(name) }
    }

    /// Adds databases that still have connections to the oldest ones, which the next call of `takeOldest` returns.
    func putBack(_ used: [String]) {
        names.withLock { $0.insert(contentsOf: used, at: 0) }
    }

    func takeOldest(keeping count: Int) -> [String] {
        names.withLock { names in
            let oldest = Array(names.dropLast(count))
            names.removeFirst(oldest.count)
            return oldest
        }
    }
}

/// Threads for blocking work. Such work may wait for other blocking work, so there must be a thread for each.
private let threads = {
    let pool = NIOThreadPool(numberOfThreads: 32)
    pool.start()
    return pool
}()

/// Runs work that blocks on a separate thread, so that it does not delay Swift tasks.
package func blocking<Value: Sendable>(
    _ work: @Sendable @escaping () throws -> Value
) async throws -> Value {
    try await threads.runIfActive(work)
}
