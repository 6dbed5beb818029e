import Postgres
import Requests
import Synchronization

/// An app that shares the server.
struct Tenant: Sendable {
    let id: UUID
    let slug: String
    let name: String
    /// The accepted issuers of identity tokens. If empty, the configured issuers and those of `providers` are accepted.
    let issuers: [String]
    let audiences: [String]
    let providers: [IdentityProvider]
    /// The limit for all users of the tenant together; nil for no limit.
    let requestsPerMinuteMax: Int?
    /// Whether its apps may sign in guests.
    let allowsGuests: Bool
    /// Whether apps of other developers can ask for access by OAuth.
    let allowsOAuth: Bool
    /// Whether such apps can register themselves.
    let allowsRegistration: Bool
    /// Whether assistants can call trusted documents as tools.
    let allowsTools: Bool
    /// The step of ratings.
    let ratingStep: RatingStep
    /// The maximum number of books of a guest.
    let guestBooksMax: Int
    /// Whether readers may share by links.
    let allowsSharing: Bool

    /// Whether apps of other developers can get tokens for its tools by OAuth.
    var offersToolTokens: Bool { allowsOAuth && allowsTools }

    /// Returns whether tokens for an app with this ID are accepted: a bundle ID, or a client ID at a provider.
    func hasApp(_ id: String) -> Bool {
        audiences.contains(id) || providers.contains { $0.audiences.contains(id) }
    }
}

/// A cache of all tenants. They are few and change rarely.
package final class Tenants: Sendable {
    /// The time after which a sign-in reads the tenants again. Other requests use the result of the last `refresh`.
    private static let lifetime = Duration.seconds(1)

    private struct Cache {
        var tenants: [Tenant] = []
        var limits: [UUID: Int] = [:]
        var expiresAt: ContinuousClock.Instant?
    }

    private let cache = Mutex(Cache())

    /// Returns all tenants, at most `lifetime` old.
    func all(for request: RequestContext) async throws(BookplateError) -> [Tenant] {
        let (tenants, expiresAt) = cache.withLock { ($0.tenants, $0.expiresAt) }
        if let expiresAt, ContinuousClock.now < expiresAt { return tenants }
        let current: [Tenant] = try await request.anonymous(isReadOnly: true) {
            $0.append(Self.select)
        }
        store(current)
        return current
    }

    /// Returns all tenants as of the last time they were read.
    func known(for request: RequestContext) async throws(BookplateError) -> [Tenant] {
        let tenants = cache.withLock(\.tenants)
        return tenants.isEmpty ? try await all(for: request) : tenants
    }

    /// Reads the tenants again, for uses that cannot wait for a query.
    package func refresh(from database: ConnectionPool) async throws(PostgresError) {
        var pipeline = Pipeline(isReadOnly: true)
        let tenants = pipeline.append(Self.select)
        store(PipelineResults(try await database.run(pipeline))[tenants])
    }

    /// The audiences of all tenants that accept the configured issuers, those of the oldest tenant first.
    package var audiences: [String] {
        cache.withLock { $0.tenants.filter(\.issuers.isEmpty).flatMap(\.audiences) }
    }

    /// Returns the maximum requests per minute of all users of the tenant together; nil for no limit.
    func requestsPerMinuteMax(of id: UUID) -> Int? { cache.withLock { $0.limits[id] } }

    /// Returns whether apps can get tokens for the tools of a tenant by OAuth or, if `slug` is nil, for those of any tenant. The
    /// result is as of the last time the tenants were read.
    package func offerToolTokens(slug: String?) -> Bool {
        cache.withLock { cache in
            cache.tenants.contains { $0.offersToolTokens && (slug == nil || $0.slug == slug) }
        }
    }

    private func store(_ tenants: [Tenant]) {
        var limits: [UUID: Int] = [:]
        for tenant in tenants { limits[tenant.id] = tenant.requestsPerMinuteMax }
        let expiresAt = ContinuousClock.now + Self.lifetime
        cache.withLock { $0 = Cache(tenants: tenants, limits: limits, expiresAt: expiresAt) }
    }

    private static let select = TypedStatement<Tenant>(
        """
        SELECT
            t.id, t.slug, t.name, t.issuers, t.audiences, t.requests_per_minute, t.guests, t.oauth,
            t.oauth_registration, t.mcp, t.rating_step::int, t.guest_books_max, t.sharing,
            \(IdentityProvider.columns)
        FROM tenants t
        ORDER BY t.created_at, t.id
        """)
}

extension Tenant: RowDecodable {
    init?(_ row: inout RowReader) {
        guard let id = row.uuid(), let slug = row.text(), let name = row.text(),
            let issuers = row.texts(), let audiences = row.texts()
        else { return nil }
        self.id = id
        self.slug = slug
        self.name = name
        self.issuers = issuers
        self.audiences = audiences
        requestsPerMinuteMax = row.int32().map(Int.init)
        allowsGuests = row.bool() == true
        allowsOAuth = row.bool() == true
        allowsRegistration = row.bool() == true
        allowsTools = row.bool() == true
        ratingStep = row.int32().flatMap { RatingStep(quarterStars: $0) } ?? .whole
        guestBooksMax = Int(row.int32() ?? 0)
        allowsSharing = row.bool() == true
        guard let providers = IdentityProvider.list(&row) else { return nil }
        self.providers = providers
    }
}
