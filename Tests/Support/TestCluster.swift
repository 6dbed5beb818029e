import Glibc
import NIOPosix
import Postgres

/// A PostgreSQL cluster with one migrated database that others are copies of. It is migrated once a test run, by the real migrator as a role that is no superuser.
package actor TestCluster {
    /// The one that `BOOKPLATE_TEST_DATABASE_URL` leads to.
    package static let shared = TestCluster(
        superuserURL: getenv("BOOKPLATE_TEST_DATABASE_URL").map { String(cString: $0) })

    /// The role that owns the tables.
    package static let owner = "bookplate_test_owner"
    /// The role of the server.
    package static let app = "bookplate_app"

    /// On a unix socket.
    private let givenURL: String?
    private var template: Task<String, any Error>?
    private var databaseCount = 0

    package init(superuserURL: String?) { givenURL = superuserURL }

    /// A copy of the migrated database. What is left of it goes with the cluster, which is the test
    /// script's.
    package func clone() async throws -> TestDatabase {
        try await database(template: migrated())
    }

    /// A database with nothing in it.
    package func empty() async throws -> TestDatabase {
        _ = try await migrated()  // which makes the roles
        return try await database(template: "template0")
    }

    private func database(template: String) async throws -> TestDatabase {
        databaseCount += 1
        let name = "bookplate_test_\(getpid())_\(databaseCount)"
        let superuser = try superuserURL
        try await blocking {
            try AdminConnection(superuser).execute(
                "CREATE DATABASE \(name) TEMPLATE \(template) OWNER \(Self.owner)")
        }
        return TestDatabase(name: name, superuserURL: superuser)
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
            guard let givenURL else { throw Missing() }
            return givenURL
        }
    }

    private struct Missing: Error, CustomStringConvertible {
        let description =
            "set BOOKPLATE_TEST_DATABASE_URL to a superuser's URL, as scripts/test does"
    }

    /// The project's folder.
    package static let project = #filePath.split(
        separator: "/", omittingEmptySubsequences: false
    ).dropLast(3).joined(separator: "/")

    package static let migrations = project + "/migrations"
}

/// A database of a test's own.
package struct TestDatabase: Sendable {
    package let name: String
    private let superuserURL: String

    init(name: String, superuserURL: String) {
        self.name = name
        self.superuserURL = superuserURL
    }

    /// - Parameter cluster: another that has the same database, as a standby has; its superuser's URL.
    package func url(as role: String? = nil, on cluster: String? = nil) throws -> String {
        var string = try ConnectionString(cluster ?? superuserURL)
        string["dbname"] = name
        if let role { string["user"] = role }
        return string.description
    }

    /// Looks or meddles beside the server, on a thread that may block.
    ///
    /// - Parameter role: the superuser where it is nil.
    package func connected<Value: Sendable>(
        as role: String? = TestCluster.owner,
        _ work: @Sendable @escaping (AdminConnection) throws -> Value
    ) async throws -> Value {
        let url = try url(as: role)
        return try await blocking { try work(try AdminConnection(url)) }
    }

    /// Runs SQL as the owner of the tables.
    package func execute(_ sql: String) async throws {
        try await connected { try $0.execute(sql) }
    }

    /// The first cell of a statement's answer, for a count.
    package func count(_ sql: String) async throws -> Int {
        try await connected { Int(try $0.query(sql).int64(0, 0) ?? -1) }
    }

    /// The same for a text, which a type of this database's own may be as well.
    package func text(_ sql: String) async throws -> String {
        try await connected { try $0.query("SELECT (\(sql))::text").text(0, 0) ?? "" }
    }
}

/// Threads that may wait for one another, as many as tests do so at once.
private let threads = {
    let pool = NIOThreadPool(numberOfThreads: 32)
    pool.start()
    return pool
}()

/// Does work that blocks its thread where it keeps no task waiting.
package func blocking<Value: Sendable>(
    _ work: @Sendable @escaping () throws -> Value
) async throws -> Value {
    try await threads.runIfActive(work)
}
