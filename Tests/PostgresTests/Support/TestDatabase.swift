import EventLoops
import Glibc
import NIOCore
import NIOPosix
import Testing

@testable import Postgres

/// A database of a test's own, in the cluster that `BOOKPLATE_TEST_DATABASE_URL` leads to.
///
/// It is dropped when the test lets it go.
final class TestDatabase: Sendable {
    let url: String
    private let name: String
    private let administratorURL: String

    init() throws {
        administratorURL = try #require(
            getenv("BOOKPLATE_TEST_DATABASE_URL").map { String(cString: $0) },
            "set BOOKPLATE_TEST_DATABASE_URL to a superuser's URL, as scripts/test does")
        name = "test_\(getpid())_\(UUID.version7().low)"
        try AdminConnection(administratorURL).execute("CREATE DATABASE \(name)")
        var connectionString = try ConnectionString(administratorURL)
        connectionString["dbname"] = name
        url = connectionString.description
    }

    deinit {
        // What is left behind goes with the cluster, which is the test script's.
        try? AdminConnection(administratorURL).execute(
            "DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
    }

    /// For looking and meddling beside the pool.
    func admin() throws -> AdminConnection {
        try AdminConnection(url)
    }
}

/// The loops of all tests; they live as long as the process.
private let loops = MultiThreadedEventLoopGroup(numberOfThreads: 8)

/// Runs the body with a pool on a loop, the body's task on that loop too, and closes the pool after it.
func withPool(
    _ database: TestDatabase, _ configure: (inout PostgresConfiguration) -> Void = { _ in },
    _ body: @Sendable @escaping (ConnectionPool) async throws -> Void
) async throws {
    var configuration = PostgresConfiguration(url: database.url)
    configuration.connectionCount = 2
    configuration.segmentTimeout = .seconds(60)  // many tests share the machine
    configure(&configuration)
    let executor = EventLoopTaskExecutor(loops.next())
    let pool = try await ConnectionPool.start(configuration, on: executor)
    let outcome = await Task(executorPreference: executor) {
        try await body(pool)
    }.result
    await pool.close()
    try outcome.get()
}

/// Not in the module: a statement made anew at each use would be prepared anew at each use.
extension Statement: ExpressibleByStringLiteral {
    public convenience init(stringLiteral text: String) {
        self.init(text)
    }
}

extension ConnectionPool {
    /// The rows of one statement.
    func rows(
        _ text: String, _ parameters: Parameters = Parameters(), isReadOnly: Bool = false
    ) async throws(PostgresError) -> Rows {
        try await run(.one(Statement(text), parameters, isReadOnly: isReadOnly))[0]
    }
}

extension TestDatabase {
    /// Looks or meddles beside the pool, on a thread that may block.
    func asAdmin<Value: Sendable>(
        _ work: @Sendable @escaping (AdminConnection) throws -> Value
    ) async throws -> Value {
        try await NIOThreadPool.singleton.runIfActive { try work(try self.admin()) }
    }

    /// Ends all other sessions of this database, and waits until they are gone.
    func terminateSessions() async throws {
        try await asAdmin { admin in
            _ = try admin.query(
                """
                SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid()
                """)
        }
    }
}

extension TestDatabase {
    /// Waits until a statement that contains the text is at work in another session.
    func waitUntilRuns(_ text: String) async throws {
        for _ in 0..<500 {
            let isRunning = try await asAdmin { admin in
                var parameters = Parameters()
                parameters.append(text: text)
                return try admin.query(
                    """
                    SELECT EXISTS (SELECT FROM pg_stat_activity
                        WHERE datname = current_database() AND pid <> pg_backend_pid()
                            AND state = 'active' AND strpos(query, $1) > 0)
                    """, parameters
                ).bool(0, 0)
            }
            if isRunning == true { return }
            try await Task.sleep(for: .milliseconds(20))
        }
        Issue.record("\(text) does not run")
    }
}

extension Result where Failure == PostgresError {
    static func catching(_ work: () async throws -> Success) async throws -> Self {
        do {
            return .success(try await work())
        } catch let error as PostgresError {
            return .failure(error)
        }
    }
}

/// Again while connections turn out to be lost: nobody can know that a session has ended before it says so.
func retryingWhenLost<Value>(_ work: () async throws -> Value) async throws -> Value {
    for _ in 0..<5 {
        do {
            return try await work()
        } catch PostgresError.connectionLost {
            continue
        }
    }
    return try await work()
}
