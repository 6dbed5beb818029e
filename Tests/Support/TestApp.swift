import BookSources
import Bookplate
import EventLoops
import GraphQL
import Identity
import Logging
import NIOPosix
import Postgres

/// The product on a database of its own, with everything but HTTP: real sign-in, real PostgreSQL.
///
/// Two tenants share it. Every reader is new, so tests of one app do not see one another.
package final class TestApp: Sendable {
    package let database: TestDatabase
    package let pool: ConnectionPool
    package let hub: Hub
    package let keys = SessionKeys.generate()
    private let runner: LoopBound

    /// An app that shares the server: its slug, its audience.
    package enum Tenant: String, CaseIterable, Sendable {
        case alpha, beta

        package var audience: String { "com.example.\(rawValue)" }
    }

    /// The loops of all tests; they live as long as the process.
    private static let loops = MultiThreadedEventLoopGroup(numberOfThreads: 2)
    /// Making its key takes long, so one serves all.
    package static let issuer = DevelopmentIssuer()

    /// - Parameters:
    ///   - catalog: lines of a catalogue file.
    ///   - sources: who knows other books.
    package static func start(
        catalog: [String] = TestCatalog.lines(), sources: SourceChain = SourceChain([]),
        _ configure: (inout PostgresConfiguration) -> Void = { _ in }
    ) async throws -> TestApp {
        let database = try await TestCluster.shared.clone()
        try await database.connected { connection in
            _ = try TenantRecord.add(
                slug: "alpha", name: "Alpha", issuers: [], audiences: [Tenant.alpha.audience],
                amazonTag: "alpha-20", bookshopID: "111", connection)
            _ = try TenantRecord.add(
                slug: "beta", name: "Beta", issuers: [], audiences: [Tenant.beta.audience],
                amazonTag: nil, bookshopID: nil, connection)
        }
        try await database.importCatalog(catalog)
        var configuration = PostgresConfiguration(url: try database.url(as: TestCluster.app))
        configuration.connectionCount = 2
        configure(&configuration)
        let executor = EventLoopTaskExecutor(loops.next())
        return try await TestApp(
            database, try await ConnectionPool.start(configuration, on: executor), sources)
    }

    private init(
        _ database: TestDatabase, _ pool: ConnectionPool, _ sources: SourceChain
    ) async throws {
        self.database = database
        self.pool = pool
        hub = try await Hub.start(
            PostgresConfiguration(url: try database.url(as: TestCluster.app)), database: pool,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let services = Services(
            sessionKeys: keys, issuers: [Self.issuer.issuer],
            keySets: [Self.issuer.issuer: KeySetCache(fixed: try Self.issuer.keySet)],
            bookSources: sources, hub: hub,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        runner = LoopBound(
            RequestRunner(
                try BookplateSchema(sdl: BookplateSchema.text), database: pool, services: services))
    }

    /// A runner stays on its loop, which is why it can be told of elsewhere.
    private final class LoopBound: @unchecked Sendable {
        private let runner: RequestRunner

        init(_ runner: RequestRunner) { self.runner = runner }

        func run(_ request: RequestRunner.Request) async -> RequestRunner.Answer {
            await runner.run(request)
        }
    }

    /// Runs a request with a token, or without.
    package func ask(
        _ query: String, _ variables: Value = .null, token: String? = nil, isReadOnly: Bool = false
    ) async throws -> Answer {
        let request = RequestRunner.Request(
            query: query, variables: variables, bearerToken: token, isReadOnly: isReadOnly,
            requestID: "test-request")
        let answer = await Task(executorPreference: pool.executor) { [runner] in
            await runner.run(request)
        }.value
        return Answer(
            json: try parseJSON(answer.body), isRequestError: answer.isRequestError,
            isForbiddenMutation: answer.isForbiddenMutation,
            statements: answer.statistics?.statementCount ?? 0,
            roundTrips: answer.statistics?.roundTripCount ?? 0)
    }

    // MARK: - Readers

    /// An identity token as the development issuer makes it.
    package func identityToken(
        subject: String, tenant: Tenant = .alpha, email: String? = nil, nonce: String? = nil
    ) -> String {
        Self.issuer.identityToken(
            subject: subject, audience: tenant.audience, email: email, nonce: nonce) ?? ""
    }

    package static let signIn = """
        mutation SignIn($input: SignInWithAppleInput!) {
          signInWithApple(input: $input) {
            accessToken expiresAt refreshToken isNewUser
            user { id displayName email preferredGenres createdAt }
          }
        }
        """

    package func signIn(
        subject: String, tenant: Tenant = .alpha, email: String? = nil, displayName: String? = nil
    ) async throws -> Answer {
        let token = identityToken(subject: subject, tenant: tenant, email: email)
        return try await ask(
            Self.signIn,
            [
                "input": [
                    "identityToken": .string(token),
                    "displayName": displayName.map { .string($0) } ?? .null,
                ]
            ])
    }

    /// Somebody who signs in for the first time.
    package func newReader(_ tenant: Tenant = .alpha) async throws -> Reader {
        let subject = "reader.\(UUID.version7())"
        return try Reader(self, subject, try await signIn(subject: subject, tenant: tenant))
    }
}

/// Something made once, when the first test asks for it: `static let app = Shared { try await TestApp.start() }`.
package final class Shared<Value: Sendable>: Sendable {
    private let task: Task<Value, any Error>

    package init(_ make: @Sendable @escaping () async throws -> Value) {
        task = Task { try await make() }
    }

    package func callAsFunction() async throws -> Value { try await task.value }
}
