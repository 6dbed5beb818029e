import EventLoops
import Glibc
import NIOCore
import NIOPosix
import TestBasics
import Testing

@testable import Postgres

/// A temporary database for one test, in the cluster at `BOOKPLATE_TEST_DATABASE_URL`.
///
/// The database is dropped when the object is released.
final class TestDatabase: Sendable {
    let url: String
    private let name: String
    private let administratorURL: String

    init() throws {
        administratorURL = try #require(
            getenv("BOOKPLATE_TEST_DATABASE_URL").map { String(cString: $0) },
            "set BOOKPLATE_TEST_DATABASE_URL to the URL of a superuser, as scripts/test does")
        name = "test_\(getpid())_\(UUID.version7().low)"
        try AdminConnection(administratorURL).execute("CREATE DATABASE \(name)")
        var connectionString = try ConnectionString(administratorURL)
        connectionString["dbname"] = name
        url = connectionString.description
    }

    deinit {
        // If this fails, the database is removed together with the cluster, which scripts/test owns.
        try? AdminConnection(administratorURL).execute(
            "DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
    }

    /// Opens a connection that does not belong to the pool.
    func admin() throws -> AdminConnection {
        try AdminConnection(url)
    }
}

/// The event loops of all tests, which live as long as the process.
private let loops = MultiThreadedEventLoopGroup(numberOfThreads: 8)

/// Runs the body on the event loop of a new pool, and closes the pool afterwards.
func withPool(
    _ database: TestDatabase, _ configure: (inout PostgresConfiguration) -> Void = { _ in },
    _ body: @Sendable @escaping (ConnectionPool) async throws -> Void
) async throws {
    var configuration = PostgresConfiguration(url: database.url)
    configuration.connectionCount = 2
    // Generous limits, because many tests share the machine.
    configuration.pipelineTimeout = .seconds(60)
    configuration.statementTimeout = .seconds(60)
    configure(&configuration)
    let executor = EventLoopTaskExecutor(loops.next())
    let pool = try await ConnectionPool.start(configuration, on: executor)
    let outcome = await Task(executorPreference: executor) {
        try await body(pool)
    }.result
    await pool.close()
    try outcome.get()
}

/// Only for tests: a statement created at each use is also prepared at each use.
extension Statement: ExpressibleByStringLiteral {
    public convenience init(stringLiteral text: String) {
        self.init(text)
    }
}

extension ConnectionPool {
    /// Runs one statement and returns its rows.
    func rows(
        _ text: String, _ parameters: Parameters = Parameters(), isReadOnly: Bool = false
    ) async throws(PostgresError) -> Rows {
        try await run(.one(Statement(text), parameters, isReadOnly: isReadOnly))[0]
    }
}

extension TestDatabase {
    /// Runs work on a connection that does not belong to the pool, on a thread that may block.
    func asAdmin<Value: Sendable>(
        _ work: @Sendable @escaping (AdminConnection) throws -> Value
    ) async throws -> Value {
        try await NIOThreadPool.singleton.runIfActive { try work(try self.admin()) }
    }

    /// Terminates all other sessions of this database and waits until they have ended.
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
    /// Waits until another session is executing a statement that contains the text.
    func waitUntilRuns(_ text: String) async throws {
        try await waitUntil("another session runs \(text)") {
            try await asAdmin { admin in
                var parameters = Parameters()
                parameters.append(text: text)
                return try admin.query(
                    """
                    SELECT EXISTS (SELECT FROM pg_stat_activity
                        WHERE datname = current_database() AND pid <> pg_backend_pid()
                            AND state = 'active' AND strpos(query, $1) > 0)
                    """, parameters
                ).bool(0, 0) == true
            }
        }
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

/// Repeats the work while connections are lost. The pool learns that a session was terminated only when
/// the socket reports it, so the first attempts may still use the old connection.
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
