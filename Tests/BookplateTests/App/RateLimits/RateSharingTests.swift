import Postgres
import TestSupport
import Testing

@testable import Bookplate

/// Rate limits of several servers behind a load balancer.
@Suite struct RateSharingTests {
    private static let app = Shared { try await TestApp.start(catalog: []) }
    private static let viewer = Viewer(
        userID: .version7(), tenantID: .version7(), sessionID: .version7())

    /// Takes a unit from one server after the other, as a load balancer would, until all refuse.
    private func allowed(
        by servers: [RateLimits], sharing: [RateSharing], viewer: Viewer
    ) async -> Int {
        var count = 0
        while true {
            let isAllowed = servers.map { server in
                server.take(1, viewer: viewer, address: nil, tenantMax: nil)?.isAllowed == true
            }
            if !isAllowed.contains(true) { return count }
            count += isAllowed.count { $0 }
            for sharing in sharing { await sharing.share() }
        }
    }

    @Test func threeServersAllowTheLimitOnce() async throws {
        let app = try await Self.app()
        // The clock stands still, so that nothing is refilled.
        let servers = (0..<3).map { _ in RateLimits(.init(perCaller: 60), clock: { 1 }) }
        let sharing = servers.map { RateSharing($0, database: app.pool) }
        let viewer = Viewer(userID: .version7(), tenantID: .version7(), sessionID: .version7())
        let count = await allowed(by: servers, sharing: sharing, viewer: viewer)
        #expect((60...75).contains(count), "\(count)")
        // Other callers have buckets of their own.
        let other = await allowed(by: servers, sharing: sharing, viewer: Self.viewer)
        #expect((60...75).contains(other), "\(other)")
    }

    @Test func lightCallersCostNoStatement() async throws {
        let app = try await Self.app()
        let rates = RateLimits(.init(perCaller: 60), clock: { 1 })
        let sharing = RateSharing(rates, database: app.pool)
        for _ in 0..<100 {
            let viewer = Viewer(
                userID: .version7(), tenantID: .version7(), sessionID: .version7())
            _ = rates.take(2, viewer: viewer, address: nil, tenantMax: nil)
        }
        #expect(rates.takeShares().isEmpty)
        await sharing.share()
    }
}
