import Postgres
import Synchronization
import TestBasics
import TestSupport
import Testing

@testable import Bookplate
@testable import Requests

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

    /// The key of a bucket is the id of a user, so it must not outlive the account for long.
    @Test func fullBucketsAreRemoved() async throws {
        let app = try await TestApp.start(catalog: [])
        let rates = RateLimits(.init(perCaller: 60), clock: { 1 })
        _ = rates.take(60, viewer: Self.viewer, address: nil, tenantMax: nil)
        await RateSharing(rates, database: app.pool).share()
        let worker = try await TestWorker.start(app.database, [PruneRateBuckets()])
        func prune() async throws {
            try await app.database.execute(
                "UPDATE jobs SET run_at = now() WHERE kind = 'rate.prune'")
            try await waitUntil("the job has run") {
                try await app.database.count(
                    "SELECT count(*) FROM jobs WHERE state = 'READY' AND run_at > now()") == 1
            }
        }
        try await prune()
        #expect(try await app.database.count("SELECT count(*) FROM rate_buckets") == 1)
        try await app.database.execute("UPDATE rate_buckets SET full_at = now() - interval '1 s'")
        try await prune()
        #expect(try await app.database.count("SELECT count(*) FROM rate_buckets") == 0)
        await worker.stop()
    }

    /// Before the servers have shared what they took, each allows the whole limit. All of it is refilled before they allow more.
    @Test func whatABurstTookTooMuchIsRefusedLater() async throws {
        let app = try await Self.app()
        let seconds = Atomic<Int64>(1)
        let servers = (0..<3).map { _ in
            RateLimits(
                .init(perCaller: 60),
                clock: { seconds.load(ordering: .relaxed) * 1_000_000_000 })
        }
        let viewer = Viewer(userID: .version7(), tenantID: .version7(), sessionID: .version7())
        func isAllowed(_ units: Int) -> [Bool] {
            servers.map {
                $0.take(units, viewer: viewer, address: nil, tenantMax: nil)?.isAllowed == true
            }
        }
        #expect(isAllowed(60) == [true, true, true])
        // A server learns what the others took when it reports, so the last one knows everything.
        for server in servers { await RateSharing(server, database: app.pool).share() }
        seconds.store(101, ordering: .relaxed)
        #expect(isAllowed(1).last == false)
        seconds.store(150, ordering: .relaxed)
        #expect(isAllowed(1).last == true)
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
