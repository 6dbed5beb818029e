import Postgres
import Synchronization

/// An app that shares this server.
struct Tenant: Sendable {
    let id: UUID
    let slug: String
    /// Empty: those that the server is configured with, and the providers'.
    let issuers: [String]
    let audiences: [String]
    /// Where the keys of issuers are that the server's configuration does not know.
    let providers: [String: String]
    /// What all its users together may ask for; nil is no limit.
    let requestsPerMinuteMax: Int?
}

/// The tenants as they were a moment ago. They are few, and change rarely.
package final class Tenants: Sendable {
    /// Sign-ins see a change after this at the latest, everything else at the next `refresh`.
    private static let lifetime = Duration.seconds(1)
    private static let select = Statement(
        """
        SELECT t.id, t.slug, t.issuers, t.audiences, t.requests_per_minute, \
        array(SELECT p.issuer FROM identity_providers p WHERE p.tenant_id = t.id ORDER BY p.issuer), \
        array(SELECT p.jwks_url FROM identity_providers p WHERE p.tenant_id = t.id ORDER BY p.issuer) \
        FROM tenants t ORDER BY t.created_at, t.id
        """)

    private struct Kept {
        var tenants: [Tenant] = []
        var limits: [UUID: Int] = [:]
        var expiresAt: ContinuousClock.Instant?
    }

    private let kept = Mutex(Kept())

    func all(for request: RequestContext) async throws(BookplateError) -> [Tenant] {
        let (tenants, expiresAt) = kept.withLock { ($0.tenants, $0.expiresAt) }
        if let expiresAt, ContinuousClock.now < expiresAt { return tenants }
        return keep(try await request.anonymous { $0.append(Self.select) }[0])
    }

    /// Reads them again, for what cannot wait for a read of its own.
    package func refresh(from database: ConnectionPool) async throws(PostgresError) {
        _ = keep(try await database.run(.one(Self.select, isReadOnly: true))[0])
    }

    /// Requests a minute of all the tenant's users together; nil is no limit.
    func requestsPerMinuteMax(of id: UUID) -> Int? { kept.withLock { $0.limits[id] } }

    private func keep(_ rows: Rows) -> [Tenant] {
        let tenants = (0..<rows.count).compactMap { row -> Tenant? in
            guard let id = rows.uuid(row, 0), let slug = rows.text(row, 1),
                let issuers = rows.texts(row, 2), let audiences = rows.texts(row, 3),
                let names = rows.texts(row, 5), let urls = rows.texts(row, 6)
            else { return nil }
            return Tenant(
                id: id, slug: slug, issuers: issuers, audiences: audiences,
                providers: Dictionary(zip(names, urls)) { first, _ in first },
                requestsPerMinuteMax: rows.int32(row, 4).map(Int.init))
        }
        var limits: [UUID: Int] = [:]
        for tenant in tenants { limits[tenant.id] = tenant.requestsPerMinuteMax }
        let expiresAt = ContinuousClock.now + Self.lifetime
        kept.withLock { $0 = Kept(tenants: tenants, limits: limits, expiresAt: expiresAt) }
        return tenants
    }
}
