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
private let loops = MultiThreadedEventLoopGroup(numberOfThreads: 2)

/// Runs the body with a pool on a loop, the body's task on that loop too, and closes the pool after it.
func withPool(
    _ database: TestDatabase, _ configure: (inout PostgresConfiguration) -> Void = { _ in },
    _ body: @Sendable @escaping (ConnectionPool) async throws -> Void
) async throws {
    var configuration = PostgresConfiguration(url: database.url)
    configuration.connectionCount = 2
    configure(&configuration)
    let executor = EventLoopTaskExecutor(loops.next())
    let pool = try await ConnectionPool.start(configuration, on: executor)
    let outcome = await Task(executorPreference: executor) {
        try await body(pool)
    }.result
    await pool.close()
    try outcome.get()
}

extension ConnectionPool {
    /// The rows of one statement.
    func rows(
        _ text: String, _ parameters: Parameters = Parameters(), isReadOnly: Bool = false
    ) async throws(PostgresError) -> Rows {
        try await run(.one(Statement(text), parameters, isReadOnly: isReadOnly))[0]
    }
}
