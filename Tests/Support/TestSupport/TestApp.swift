import Basics
import BookSources
import Bookplate
import EventLoops
import Glibc
import GraphQL
import GraphQLServing
import HTTPFetch
import Identity
import ImageProcessing
import Logging
import NIOPosix
import ObjectStorage
import Postgres
import Operations
import Requests

/// The whole product without HTTP, in process, with real sign-in and its own PostgreSQL database.
///
/// The database has two tenants. Each test creates its own users, so tests that share an app do not affect each other.
package final class TestApp: Sendable {
    package let database: TestDatabase
    package let pool: ConnectionPool
    package let hub: Hub
    package let keys: SessionKeys
    package let covers: Covers
    package let services: Services
    private let runner: LoopBound

    /// A tenant of the test app. The raw value is its slug.
    package enum Tenant: String, CaseIterable, Sendable {
        case alpha, beta

        package var audience: String { "com.example.\(rawValue)" }
    }

    /// The event loops of all tests. They are never shut down.
    private static let loops = MultiThreadedEventLoopGroup(numberOfThreads: 2)
    /// Building the schema is slow, so all tests share it.
    private static let schema = Result { () throws(RequestErrors) in
        try BookplateSchema(sdl: BookplateSchema.text, hasIncrementalDelivery: true)
    }
    /// All tests share one image worker process.
    private static let imager = Result { () throws(ImageError) in
        try ImagerPool(processCount: 1)
    }
    /// Generating its key is slow, so all tests share one issuer.
    package static let issuer = DevelopmentIssuer()
    /// Another OpenID provider. Its keys are served for every key set URL that a tenant configures.
    package static let provider = DevelopmentIssuer(issuer: "https://provider.example")
    private static let providerKeySet: KeySet = {
        guard let keys = try? provider.keySet else {
            preconditionFailure("the provider has no key set")
        }
        return keys
    }()

    /// - Parameters:
    ///   - catalog: the lines of a catalog file to import.
    ///   - sources: external sources of books that are not in the catalog; none by default.
    ///   - coverSources: external sources of covers; none by default.
    package static func start(
        catalog: [String] = TestCatalog.lines(), storage: TestStore = .files,
        sources: SourceChain = SourceChain([]),
        coverSources: CoverSources = CoverSources(SourceChain([])),
        rates: RateLimits = RateLimits(), apple: AppleClient? = nil,
        webhookTimeout: Duration = .seconds(15),
        keyring: SessionKeyring = SessionKeyring(.generate()),
        makeKeySet: (@Sendable (KeySetCache.Source) -> KeySetCache)? = nil,
        listeningAt hubURL: String? = nil,
        _ configure: (inout PostgresConfiguration) -> Void = { _ in }
    ) async throws -> TestApp {
        let database = try await makeDatabase(catalog: catalog)
        var configuration = PostgresConfiguration(url: try database.url(as: TestCluster.app))
        configuration.connectionCount = 2
        configure(&configuration)
        let executor = EventLoopTaskExecutor(loops.next())
        let pool = try await ConnectionPool.start(configuration, on: executor)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let hub = try await Hub.start(
            PostgresConfiguration(url: try hubURL ?? database.url(as: TestCluster.app)),
            database: pool, logger: logger)
        let fetcher = Fetcher(
            policy: FetchPolicy(
                userAgent: "test", allowed: try FetchAllowList(parsing: "127.0.0.1")))
        let covers = Covers(
            store: try await storage.make(pool), images: try imager.get(), fetcher: fetcher,
            publicURL: "http://covers.test", logger: logger)
        let accounts = AccountServices(
            keyring: keyring, issuers: [issuer.issuer],
            keySets: [issuer.issuer: KeySetCache(fixed: try issuer.keySet)],
            makeKeySet: makeKeySet ?? { _ in KeySetCache(fixed: providerKeySet) }, apple: apple,
            logger: logger)
        let services = Services(
            accounts: accounts, rates: rates, bookSources: sources, coverSources: coverSources,
            covers: covers,
            webhooks: WebhookSender(
                fetcher: fetcher, allowsPlainHTTP: true, timeout: webhookTimeout),
            hub: hub, logger: logger)
        return try TestApp(database, pool, services, hub)
    }

    /// Creates a database with two tenants and a catalog.
    private static func makeDatabase(catalog: [String]) async throws -> TestDatabase {
        let database = try await TestCluster.shared.makeDatabase()
        try await database.withConnection { connection in
            _ = try TenantRecord.add(
                slug: "alpha", name: "Alpha", issuers: [], audiences: [Tenant.alpha.audience],
                amazonTag: "alpha-20", bookshopID: "111", connection)
            _ = try TenantRecord.add(
                slug: "beta", name: "Beta", issuers: [], audiences: [Tenant.beta.audience],
                amazonTag: nil, bookshopID: nil, connection)
        }
        try await database.importCatalog(catalog)
        return database
    }

    private init(
        _ database: TestDatabase, _ pool: ConnectionPool, _ services: Services, _ hub: Hub
    ) throws {
        self.database = database
        self.pool = pool
        self.services = services
        self.hub = hub
        keys = services.accounts.sessionKeys
        covers = services.covers
        runner = LoopBound(
            RequestRunner(
                try Self.schema.get(), database: pool, services: services, isDevelopment: true,
                acceptsOnError: true))
    }

    /// Closes the connections of apps that a single test created.
    deinit {
        Task { [hub, pool] in
            await hub.close()
            await pool.close()
        }
    }

    /// Creates a folder for the object store. It is left to the system's cleanup of temporary files.
    static func makeFolder() throws -> String {
        var template = Array("/tmp/bookplate-app-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw TestReader.SetupFailure(description: "mkdtemp: errno \(errno)")
        }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Makes a runner sendable. This is safe because every call runs on the event loop of the runner's pool.
    private final class LoopBound: @unchecked Sendable {
        private let runner: RequestRunner

        init(_ runner: RequestRunner) { self.runner = runner }

        func respond(to request: GraphQLRequest) async -> GraphQLResponse {
            await runner.respond(to: request)
        }

        /// Passes each response body to `handle`, or each part of a response, and finally the errors that end the
        /// subscription, if any.
        func execute(
            _ request: GraphQLRequest, opened: () -> Void, _ handle: ([UInt8]) -> Void
        ) async {
            let operation = await runner.execute(request)
            opened()
            switch operation {
            case .response(let response): handle(response.body)
            case .incremental(let first, let rest):
                handle(first.body)
                await read(rest, handle)
            case .responses(let responses): await read(responses, handle)
            }
        }

        private func read(_ responses: ResponseStream, _ handle: ([UInt8]) -> Void) async {
            do throws(RequestErrors) {
                while let response = try await responses.next() { handle(response.body) }
            } catch {
                handle(error.body)
            }
        }
    }

    /// Executes a GraphQL request. Without a token the request is anonymous.
    package func execute(
        _ query: String, _ variables: Value = .null, token: String? = nil, isReadOnly: Bool = false,
        address: ClientAddress? = nil, app: ClientApp = ClientApp(), uploads: [[UInt8]] = [],
        storedUploads: [StoredBytes] = [],
        extensions: Value? = nil, onError: Value? = nil, bodyByteCount: Int = 0,
        acceptLanguage: String? = nil,
        hasTimedOut: @escaping @Sendable () -> Bool = { false }
    ) async throws -> TestResponse {
        var request = GraphQLRequest(
            query: query, variables: variables, extensions: extensions, bearerToken: token,
            requestID: "test-request")
        request.isReadOnly = isReadOnly
        request.client = address
        request.app = app
        request.uploads = uploads.map { .memory($0) } + storedUploads
        request.bodyByteCount = bodyByteCount
        request.onError = onError
        request.acceptLanguage = acceptLanguage
        request.hasTimedOut = hasTimedOut
        let task = Task(executorPreference: pool.executor) { [runner, request] in
            await runner.respond(to: request)
        }
        let response = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        return TestResponse(
            json: try parseJSON(response.body), isRequestError: response.isRequestError,
            refusal: response.refusal, statements: response.databaseCost?.statementCount ?? 0,
            roundTrips: response.databaseCost?.roundTripCount ?? 0, rate: response.rateLimit)
    }

    /// Starts a subscription and returns when it is open. Without a token the request is anonymous.
    package func subscribe(
        _ query: String, _ variables: Value = .null, token: String?
    ) async throws -> TestSubscription {
        var request = GraphQLRequest(
            query: query, variables: variables, bearerToken: token, requestID: "test-request")
        request.incrementalFormat = .draft
        let opened = AsyncStream.makeStream(of: Void.self)
        let subscription = TestSubscription { [pool, runner, request] continuation in
            Task(executorPreference: pool.executor) {
                await runner.execute(request, opened: { opened.continuation.finish() }) {
                    if let event = try? parseJSON($0) { continuation.yield(event) }
                }
                continuation.finish()
            }
        }
        for await _ in opened.stream {}
        return subscription
    }

    // MARK: - Users

    /// Returns an identity token signed by the development issuer.
    package func identityToken(
        subject: String, tenant: Tenant = .alpha, email: String? = nil, nonce: String? = nil
    ) -> String {
        Self.issuer.identityToken(
            subject: subject, audience: tenant.audience, email: email, nonce: nonce) ?? ""
    }

    package static let signIn = """
        mutation SignIn($input: SignInWithAppleInput!) {
          signIn(input: {apple: $input}) {
            accessToken accessTokenExpiresAt refreshToken isNewUser
            user { id displayName email preferredGenres { name } createdAt }
          }
        }
        """

    package func signIn(
        subject: String, tenant: Tenant = .alpha, email: String? = nil, displayName: String? = nil,
        authorizationCode: String? = nil, acceptLanguage: String? = nil
    ) async throws -> TestResponse {
        try await signIn(
            token: identityToken(subject: subject, tenant: tenant, email: email),
            displayName: displayName, authorizationCode: authorizationCode,
            acceptLanguage: acceptLanguage)
    }

    /// - Parameter guest: The user who sends the request; nil for an anonymous request.
    package func signIn(
        token: String, as guest: TestReader? = nil, nonce: String? = nil,
        displayName: String? = nil, authorizationCode: String? = nil,
        address: ClientAddress? = nil, acceptLanguage: String? = nil
    ) async throws -> TestResponse {
        func text(_ value: String?) -> Value { value.map { .string($0) } ?? .null }
        return try await execute(
            Self.signIn,
            [
                "input": [
                    "identityToken": .string(token), "nonce": text(nonce),
                    "displayName": text(displayName),
                    "authorizationCode": text(authorizationCode),
                ]
            ], token: guest?.token, address: address, acceptLanguage: acceptLanguage)
    }

    package static let signInAsGuest = """
        mutation($app: String!) {
          signInAsGuest(app: $app, deviceName: "Test device") {
            accessToken refreshToken isNewUser user { id isGuest }
          }
        }
        """

    /// Allows the guests of all tenants.
    ///
    /// - Parameter books: The maximum number of books of a guest.
    package func allowGuests(books: Int = 200) async throws {
        try await database.execute("UPDATE tenants SET guests = true, guest_books_max = \(books)")
    }

    package func makeGuest(
        _ tenant: Tenant = .alpha, acceptLanguage: String? = nil
    ) async throws -> TestReader {
        try TestReader(
            self, "",
            try await execute(
                Self.signInAsGuest, ["app": .string(tenant.audience)],
                acceptLanguage: acceptLanguage),
            field: "signInAsGuest")
    }

    /// Creates a user by signing in with a new subject.
    package func makeReader(
        _ tenant: Tenant = .alpha, authorizationCode: String? = nil, acceptLanguage: String? = nil
    ) async throws -> TestReader {
        let subject = "reader.\(UUID.version7())"
        return try TestReader(
            self, subject,
            try await signIn(
                subject: subject, tenant: tenant, authorizationCode: authorizationCode,
                acceptLanguage: acceptLanguage))
    }
}

/// A value that several tests share. It is created once, when the first test uses it:
/// `static let app = Shared { try await TestApp.start() }`.
package final class Shared<Value: Sendable>: Sendable {
    private let task: Task<Value, any Error>

    package init(_ make: @Sendable @escaping () async throws -> Value) {
        task = Task { try await make() }
    }

    package func callAsFunction() async throws -> Value { try await task.value }
}
