import Postgres
import Synchronization

/// An app that shares this server.
struct Tenant: Sendable {
    let id: UUID
    let issuers: [String]
    let audiences: [String]
}

/// The tenants, kept for a few seconds: they are few, and read at sign-in only.
final class Tenants: Sendable {
    private static let lifetime = Duration.seconds(10)
    private static let select = Statement(
        "SELECT id, issuers, audiences FROM tenants ORDER BY created_at, id")

    private let kept = Mutex<(tenants: [Tenant], expiresAt: ContinuousClock.Instant)?>(nil)

    func all(for request: RequestContext) async throws(BookplateError) -> [Tenant] {
        let now = ContinuousClock.now
        if let kept = kept.withLock({ $0 }), now < kept.expiresAt { return kept.tenants }
        let rows = try await request.anonymous { $0.append(Self.select) }[0]
        let tenants = (0..<rows.count).compactMap { row -> Tenant? in
            guard let id = rows.uuid(row, 0), let issuers = rows.texts(row, 1),
                let audiences = rows.texts(row, 2)
            else { return nil }
            return Tenant(id: id, issuers: issuers, audiences: audiences)
        }
        kept.withLock { $0 = (tenants, now + Self.lifetime) }
        return tenants
    }
}
