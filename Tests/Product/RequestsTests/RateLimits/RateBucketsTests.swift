import Testing

@testable import Bookplate
@testable import Requests

@Suite struct RateBucketsTests {
    private static let second: Int64 = 1_000_000_000
    private let rate = Rate(unitsPerMinute: 60)

    private func take(
        _ units: Int, _ buckets: inout RateBuckets<Int>, key: Int = 1, at seconds: Int64
    ) -> RateBuckets<Int>.Outcome {
        let now = seconds * Self.second
        let outcome = buckets.outcome(units, of: key, rate, now: now)
        if outcome.isAllowed { buckets.commit(outcome, of: key, now: now) }
        return outcome
    }

    @Test func bucketHoldsOneMinuteAndRefillsEvenly() {
        var buckets = RateBuckets<Int>()
        let all = take(60, &buckets, at: 1000)
        #expect(all.isAllowed && all.remaining == 0 && all.waitNanoseconds == 60 * Self.second)
        let none = take(1, &buckets, at: 1000)
        #expect(!none.isAllowed && none.waitNanoseconds == Self.second)
        #expect(take(2, &buckets, at: 1001).waitNanoseconds == Self.second)
        // A rejected request does not cost units.
        #expect(take(1, &buckets, at: 1001).isAllowed)
        #expect(!take(1, &buckets, at: 1001).isAllowed)
        let later = take(10, &buckets, at: 1031)
        #expect(later.isAllowed && later.remaining == 20)
        // The bucket does not exceed its size.
        #expect(take(60, &buckets, at: 9000).isAllowed)
        #expect(!take(1, &buckets, at: 9000).isAllowed)
    }

    @Test func requestsLargerThanTheBucketTakeAllOfIt() {
        var buckets = RateBuckets<Int>()
        #expect(take(1_000_000, &buckets, at: 1).isAllowed)
        #expect(!take(1, &buckets, at: 1).isAllowed)
        #expect(!take(1_000_000, &buckets, at: 60).isAllowed)
        #expect(take(1_000_000, &buckets, at: 61).isAllowed)
    }

    @Test(arguments: [(0, 60), (30, 90), (1000, 120)])
    func workThatIsDoneLeavesADebtWithAMaximum(debtMax: Int, seconds: Int64) {
        var buckets = RateBuckets<Int>()
        let now = 1000 * Self.second
        let (units, outcome) = buckets.spend(45, of: 1, rate, debtMax: debtMax, now: now)
        #expect(units == 45 && outcome.remaining == 15)
        for _ in 0..<3 {
            let (_, outcome) = buckets.spend(45, of: 1, rate, debtMax: debtMax, now: now)
            #expect(outcome.remaining == 0)
        }
        #expect(buckets.spend(1, of: 1, rate, debtMax: debtMax, now: now).units == 0)
        #expect(buckets.owesMost(of: 1, rate, now: now) == (debtMax >= 60))
        #expect(!take(1, &buckets, at: 1000 + seconds - 60).isAllowed)
        #expect(take(1, &buckets, at: 1000 + seconds - 59).isAllowed)
    }

    @Test func keysHaveSeparateBuckets() {
        var buckets = RateBuckets<Int>()
        #expect(take(60, &buckets, key: 1, at: 1).isAllowed)
        #expect(take(60, &buckets, key: 2, at: 1).isAllowed)
    }

    @Test func bucketDoesNotRefillWhileTheClockStands() {
        var buckets = RateBuckets<Int>()
        for _ in 0..<60 { #expect(take(1, &buckets, at: 5).isAllowed) }
        #expect(!take(1, &buckets, at: 5).isAllowed)
    }

    /// Memory is bounded, and the emptiest buckets are kept.
    @Test func fullestBucketsAreRemovedFirst() {
        var buckets = RateBuckets<Int>(keysMax: 100)
        #expect(take(60, &buckets, key: -1, at: 1).isAllowed)
        for key in 0..<10_000 { _ = take(1, &buckets, key: key, at: 1) }
        #expect(buckets.count <= 100)
        #expect(!take(1, &buckets, key: -1, at: 1).isAllowed)
        // After one minute all buckets are full and can be removed.
        for key in 0..<200 { _ = take(1, &buckets, key: key, at: 1000) }
        #expect(buckets.count <= 100)
    }

    @Test(arguments: [0, -5, 1_000_000_001, Int.max])
    func ratesAreClamped(unitsPerMinute: Int) {
        let rate = Rate(unitsPerMinute: unitsPerMinute)
        var buckets = RateBuckets<Int>()
        let outcome = buckets.outcome(Int.max, of: 1, rate, now: Int64.max / 4)
        buckets.commit(outcome, of: 1, now: Int64.max / 4)
        #expect(outcome.isAllowed)
    }
}
