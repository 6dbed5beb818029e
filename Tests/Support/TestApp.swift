import BookSources
import Bookplate
import EventLoops
import GraphQL
import Glibc
import HTTPFetch
import Identity
import Images
import Logging
import NIOPosix
import Objects
import Postgres

/// The product on a database of its own, with everything but HTTP: real sign-in, real PostgreSQL.
///
/// Two tenants share it. Every reader is new, so tests of one app do not see one another.
package final class TestApp: Sendable {
    package let database: TestDatabase
    package let pool: ConnectionPool
    package let hub: Hub
    package let keys: SessionKeys
    package let covers: Covers
    package let services: Services
    private let runner: LoopBound

    /// An app that shares the server: its slug, its audience.
    package enum Tenant: String, CaseIterable, Sendable {
        case alpha, beta

        package var audience: String { "com.example.\(rawValue)" }
    }

    /// The loops of all tests; they live as long as the process.
    private static let loops = MultiThreadedEventLoopGroup(numberOfThreads: 2)
    /// Images are decoded for all tests by the same processes.
    private static let imager = Result { () throws(ImageError) in
        try ImagerPool(processCount: 1)
    }
    /// Making its key takes long, so one serves all.
    package static let issuer = DevelopmentIssuer()
    /// Another OpenID provider: its keys are at whatever URL a tenant names.
    package static let provider = DevelopmentIssuer(issuer: "https://provider.example")
    private static let providerKeySet: KeySet = {
        guard let keys = try? provider.keySet else { preconditionFailure("no key set") }
        return keys
    }()

    /// - Parameters:
    ///   - catalog: lines of a catalogue file.
    ///   - sources: who knows other books.
    ///   - coverSources: who knows covers; nobody where it is not given.
    package static func start(
        catalog: [String] = TestCatalog.lines(), sources: SourceChain = SourceChain([]),
        coverSources: CoverSources = CoverSources(SourceChain([])),
        rates: RateLimits = RateLimits(), apple: AppleClient? = nil,
        keyring: SessionKeyring = SessionKeyring(.generate()),
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
        let pool = try await ConnectionPool.start(configuration, on: executor)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let hub = try await Hub.start(
            PostgresConfiguration(url: try database.url(as: TestCluster.app)), database: pool,
            logger: logger)
        let covers = Covers(
            store: try FileStore(try makeFolder()), images: try imager.get(),
            fetcher: Fetcher(
                policy: FetchPolicy(
                    userAgent: "test", allowed: try FetchAllowList(parsing: "127.0.0.1"))),
            publicURL: "http://covers.test", logger: logger)
        let services = Services(
            keyring: keyring, issuers: [issuer.issuer],
            keySets: [issuer.issuer: KeySetCache(fixed: try issuer.keySet)],
            makeKeySet: { _ in KeySetCache(fixed: providerKeySet) }, rates: rates, apple: apple,
            bookSources: sources,
            coverSources: coverSources, covers: covers, hub: hub, logger: logger)
        return try TestApp(database, pool, services, hub)
    }

    private init(
        _ database: TestDatabase, _ pool: ConnectionPool, _ services: Services, _ hub: Hub
    ) throws {
        self.database = database
        self.pool = pool
        self.services = services
        self.hub = hub
        keys = services.sessionKeys
        covers = services.covers
        runner = LoopBound(
            RequestRunner(
                try BookplateSchema(sdl: BookplateSchema.text), database: pool, services: services))
    }

    /// An app that one test has made gives its connections back.
    deinit {
        Task { [hub, pool] in
            await hub.close()
            await pool.close()
        }
    }

    /// For objects; it goes with the machine's temporary files.
    private static func makeFolder() throws -> String {
        var template = Array("/tmp/bookplate-app-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Reader.Unexpected(description: "mkdtemp") }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// A runner stays on its loop, which is why it can be told of elsewhere.
    private final class LoopBound: @unchecked Sendable {
        private let runner: RequestRunner

        init(_ runner: RequestRunner) { self.runner = runner }

        func run(_ request: RequestRunner.Request) async -> RequestRunner.Response {
            await runner.run(request)
        }

        /// Reads all answers, the errors that end them too.
        func open(
            _ request: RequestRunner.Request, opened: () -> Void, _ answered: ([UInt8]) -> Void
        ) async {
            let operation = await runner.open(request)
            opened()
            switch operation {
            case .response(let answer): answered(answer.body)
            case .responses(let responses):
                do throws(RequestErrors) {
                    while let response = try await responses.next() { answered(response.body) }
                } catch {
                    var writer = ResponseWriter()
                    writer.append("{\"errors\":")
                    writer.write(error.errors)
                    writer.append("}")
                    answered(writer.bytes)
                }
            }
        }
    }

    /// Runs a request with a token, or without.
    package func ask(
        _ query: String, _ variables: Value = .null, token: String? = nil, isReadOnly: Bool = false,
        address: RateKey? = nil, uploads: [[UInt8]] = [],
        hasTimedOut: @escaping @Sendable () -> Bool = { false }
    ) async throws -> Answer {
        let request = RequestRunner.Request(
            RequestedDocument(query: query), variables: variables, bearerToken: token,
            isReadOnly: isReadOnly, requestID: "test-request", address: address, uploads: uploads,
            hasTimedOut: hasTimedOut)
        let task = Task(executorPreference: pool.executor) { [runner] in
            await runner.run(request)
        }
        let answer = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        return Answer(
            json: try parseJSON(answer.body), isRequestError: answer.isRequestError,
            isForbiddenMutation: answer.isForbiddenMutation,
            statements: answer.statistics?.statementCount ?? 0,
            roundTrips: answer.statistics?.roundTripCount ?? 0, rate: answer.rate,
            retryAfterSeconds: answer.retryAfterSeconds)
    }

    /// Opens a subscription with a token, or without.
    package func subscribe(
        _ query: String, _ variables: Value = .null, token: String?
    ) async throws -> LiveAnswers {
        let request = RequestRunner.Request(
            RequestedDocument(query: query), variables: variables, bearerToken: token,
            requestID: "test-request")
        let opened = AsyncStream.makeStream(of: Void.self)
        let answers = LiveAnswers { [pool, runner] continuation in
            Task(executorPreference: pool.executor) {
                await runner.open(request, opened: { opened.continuation.finish() }) {
                    if let answer = try? parseJSON($0) { continuation.yield(answer) }
                }
                continuation.finish()
            }
        }
        for await _ in opened.stream {}
        return answers
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
        subject: String, tenant: Tenant = .alpha, email: String? = nil, displayName: String? = nil,
        authorizationCode: String? = nil
    ) async throws -> Answer {
        try await signIn(
            token: identityToken(subject: subject, tenant: tenant, email: email),
            displayName: displayName, authorizationCode: authorizationCode)
    }

    package func signIn(
        token: String, nonce: String? = nil, displayName: String? = nil,
        authorizationCode: String? = nil, address: RateKey? = nil
    ) async throws -> Answer {
        func text(_ value: String?) -> Value { value.map { .string($0) } ?? .null }
        return try await ask(
            Self.signIn,
            [
                "input": [
                    "identityToken": .string(token), "nonce": text(nonce),
                    "displayName": text(displayName),
                    "authorizationCode": text(authorizationCode),
                ]
            ], address: address)
    }

    /// Somebody who signs in for the first time.
    package func newReader(
        _ tenant: Tenant = .alpha, authorizationCode: String? = nil
    ) async throws -> Reader {
        let subject = "reader.\(UUID.version7())"
        return try Reader(
            self, subject,
            try await signIn(
                subject: subject, tenant: tenant, authorizationCode: authorizationCode))
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
