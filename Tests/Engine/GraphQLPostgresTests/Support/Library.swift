import EventLoops
import Glibc
import GraphQL
import NIOPosix
import Postgres
import Testing

/// A database with the rows of two users, Ada and Ben, in the cluster at `BOOKPLATE_TEST_DATABASE_URL`.
///
/// All tests share it, because they only read. It is never dropped: scripts/test removes the whole cluster.
struct Library: Sendable {
    static let ada = id(0x1)
    static let ben = id(0x2)

    /// Ada's authors.
    static let austen = id(0xA1)
    static let bronte = id(0xA2)
    static let shelley = id(0xA3)
    /// Ben's author.
    static let woolf = id(0xA9)

    /// Ada's books.
    static let emma = id(0xB1)
    static let persuasion = id(0xB2)
    static let frankenstein = id(0xB6)
    static let beowulf = id(0xB7)
    /// Ben's books.
    static let pride = id(0xB8)
    static let orlando = id(0xB9)

    static func id(_ number: UInt64) -> UUID { UUID(high: 0, low: number) }

    /// - `pride` and one of Ben's reviews refer to rows of Ada, which must not become visible to either of them.
    /// - Austen's books have ties in both orders: two titles, and two times.
    /// - Brontë has no books, and Beowulf has no author.
    private static let sql = """
        CREATE TABLE users (id uuid PRIMARY KEY, name text NOT NULL);
        CREATE TABLE authors (id uuid PRIMARY KEY, user_id uuid NOT NULL, name text NOT NULL);
        CREATE TABLE books (
            id uuid PRIMARY KEY,
            user_id uuid NOT NULL,
            author_id uuid,
            title text NOT NULL,
            page_count integer,
            rating double precision,
            is_read boolean NOT NULL,
            tags text[] NOT NULL DEFAULT '{}',
            added_at timestamptz NOT NULL
        );
        CREATE TABLE reviews (
            id uuid PRIMARY KEY,
            user_id uuid NOT NULL,
            book_id uuid NOT NULL,
            text text NOT NULL
        );
        INSERT INTO users (id, name) VALUES
            ('\(ada)', 'Ada'), ('\(ben)', 'Ben');
        INSERT INTO authors (id, user_id, name) VALUES
            ('\(austen)', '\(ada)', 'Austen'),
            ('\(bronte)', '\(ada)', 'Brontë'),
            ('\(shelley)', '\(ada)', 'Shelley'),
            ('\(woolf)', '\(ben)', 'Woolf');
        INSERT INTO books (id, user_id, author_id, title, is_read, added_at) VALUES
            ('\(emma)', '\(ada)', '\(austen)', 'Emma', true, '2026-01-01'),
            ('\(persuasion)', '\(ada)', '\(austen)', 'Persuasion', false, '2026-01-02'),
            ('\(id(0xB3))', '\(ada)', '\(austen)', 'Emma', false, '2026-01-01'),
            ('\(id(0xB4))', '\(ada)', '\(austen)', 'Sanditon', false, '2026-01-02'),
            ('\(id(0xB5))', '\(ada)', '\(austen)', 'Lady Susan', true, '2026-01-01'),
            ('\(frankenstein)', '\(ada)', '\(shelley)', 'Frankenstein', true, '2026-01-03'),
            ('\(beowulf)', '\(ada)', NULL, 'Beowulf', true, '2026-01-03'),
            ('\(pride)', '\(ben)', '\(austen)', 'Pride and Prejudice', true, '2026-01-01'),
            ('\(orlando)', '\(ben)', '\(woolf)', 'Orlando', true, '2026-01-01');
        UPDATE books
        SET
            page_count = 280, rating = 4.5, tags = ARRAY['gothic', 'a "quoted" tag'],
            added_at = '1818-01-01 12:00:00.25'
        WHERE id = '\(frankenstein)';
        INSERT INTO reviews (id, user_id, book_id, text) VALUES
            ('\(id(0xC1))', '\(ada)', '\(emma)', 'Witty'),
            ('\(id(0xC6))', '\(ada)', '\(frankenstein)', 'Alive'),
            ('\(id(0xC8))', '\(ben)', '\(frankenstein)', 'The review of another user'),
            ('\(id(0xC9))', '\(ben)', '\(orlando)', 'Timeless');
        """

    private static let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private static let schema = Result { () throws(RequestErrors) in
        try buildSchema(Source(librarySDL))
    }
    private static let shared = Task { try await start() }

    private let pool: ConnectionPool
    private let executor: EventLoopTaskExecutor

    private static func start() async throws -> Library {
        let superuserURL = try #require(
            getenv("BOOKPLATE_TEST_DATABASE_URL").map { String(cString: $0) },
            "set BOOKPLATE_TEST_DATABASE_URL to the URL of a superuser, as scripts/test does")
        var url = try ConnectionString(superuserURL)
        url["dbname"] = "library_\(getpid())"
        let libraryURL = url.description
        try await NIOThreadPool.singleton.runIfActive {
            try AdminConnection(superuserURL).execute("CREATE DATABASE library_\(getpid())")
            try AdminConnection(libraryURL).execute("SET timezone = 'UTC'; \(sql)")
        }
        var configuration = PostgresConfiguration(url: libraryURL)
        // Generous limits, because many tests share the machine.
        configuration.pipelineTimeout = .seconds(60)
        configuration.statementTimeout = .seconds(60)
        let executor = EventLoopTaskExecutor(loops.next())
        return Library(
            pool: try await ConnectionPool.start(configuration, on: executor), executor: executor)
    }

    /// The response to an operation, and the statements that it took.
    struct Response: Sendable {
        /// JSON.
        let body: String
        /// The statements of each round trip.
        let roundTrips: [[String]]

        var statementCounts: [Int] { roundTrips.map(\.count) }
        var value: Value {
            get throws { try parseJSON(Array(body.utf8)) }
        }
    }

    /// Executes an operation as it would be in a server.
    static func execute(
        _ text: String, as caller: UUID? = ada, variables: Value = .null
    ) async throws -> Response {
        let library = try await shared.value
        return try await Task(executorPreference: library.executor) {
            let context = LibraryContext(caller: caller, database: library.pool)
            let (plan, variables) = try await plan(text, variables)
            let result = await GraphQL.execute(plan, variables: variables, context: context)
            return Response(
                body: String(decoding: result.body, as: UTF8.self), roundTrips: context.roundTrips)
        }.value
    }

    /// Plans an operation. Needs no database.
    static func plan(
        _ text: String, _ variables: Value = .null
    ) async throws -> (plan: OperationPlan, variables: VariableValues) {
        let cache = DocumentCache(
            schema: try schema.get(), resolvers: LibraryResolvers(), limits: .trusted)
        let document = try await cache.document(Array(text.utf8))
        let (plan, variables, _) = try await document.plan(operationName: nil, variables: variables)
        return (plan, variables)
    }
}
