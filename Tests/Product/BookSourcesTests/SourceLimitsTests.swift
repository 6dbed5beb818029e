import HTTPFetch
import LoopbackHTTP
import Synchronization
import Testing

@testable import BookSources

/// Tests of budgets and circuit breakers with real requests.
@Suite struct SourceLimitsTests {
    /// A clock that a test can advance.
    private final class TestClock: Sendable {
        private let offset = Mutex(Duration.zero)
        var now: ContinuousClock.Instant { .now.advanced(by: offset.withLock { $0 }) }
        func advance(by duration: Duration) { offset.withLock { $0 += duration } }
    }

    /// Collects the arguments of closures.
    private final class Log<Entry: Sendable>: Sendable {
        private let entries = Mutex<[Entry]>([])
        var all: [Entry] { entries.withLock { $0 } }
        func add(_ entry: Entry) { entries.withLock { $0.append(entry) } }
    }

    /// Creates a chain whose only source is ISBNdb on a local port.
    private func isbnDB(
        _ port: UInt16, _ limits: SourceLimits, errors: Log<SourceError> = Log()
    ) throws -> SourceChain {
        var configuration = SourceChain.Configuration()
        configuration.isbnDBURL = "http://127.0.0.1:\(port)"
        configuration.isbnDBKey = "key"
        let fetcher = Fetcher(
            policy: FetchPolicy(
                userAgent: "bookplate-test", allowed: try FetchAllowList(parsing: "127.0.0.1")))
        return SourceChain(configuration, fetcher: fetcher, limits: limits) { errors.add($1) }
    }

    private static let unknownBook = Step.response(404, "{}")

    /// The breaker opens, sends one probe after its pause, stays open when the probe fails, and closes when a probe succeeds.
    @Test func pausesAHostThatRefusesConnectionsUntilAProbeSucceeds() async throws {
        let port = try LoopbackServer.closedPort()
        let (clock, events, errors) = (TestClock(), Log<SourceEvent>(), Log<SourceError>())
        let limits = SourceLimits(
            breaker: .init(failuresMax: 3, pauseMin: .seconds(10), pauseMax: .seconds(60)),
            now: { clock.now }, random: { 1 }, onEvent: { events.add($0) })
        let gate = limits.gate(of: .isbnDB)
        let chain = try isbnDB(port, limits, errors: errors)
        for _ in 0..<3 {
            #expect(await chain.edition(FakeSources.fox).failures == [.isbnDB])
        }
        #expect(errors.all == Array(repeating: .unreachable(.connectionFailed), count: 3))
        #expect(chain.pausedUntil(.interactive) != nil && chain.pausedUntil(.background) != nil)

        // A server now listens on the port, but no request is sent before the pause ends.
        var server: LoopbackServer? = try LoopbackServer(port: port) { _ in [Self.unknownBook] }
        let paused = await chain.edition(FakeSources.fox)
        #expect(paused.failures == [.isbnDB] && paused.pausedUntil != nil)
        #expect(errors.all.last == .circuitOpen)
        #expect(server?.requests.isEmpty == true && gate.counts.requests == 3)
        #expect(gate.counts.refusedByCircuitBreaker == 1)
        server = nil

        clock.advance(by: .seconds(10))
        _ = await chain.edition(FakeSources.fox)
        #expect(errors.all.last == .unreachable(.connectionFailed))
        clock.advance(by: .seconds(19))
        _ = await chain.edition(FakeSources.fox)
        #expect(errors.all.last == .circuitOpen)

        let back = try LoopbackServer(port: port) { _ in [Self.unknownBook] }
        clock.advance(by: .seconds(1))
        for _ in 0..<2 {
            #expect(await chain.edition(FakeSources.fox) == .init(misses: [.isbnDB]))
        }
        #expect(back.requests.count == 2)
        #expect(gate.circuit == .closed(failures: 0))
        #expect(chain.pausedUntil(.interactive) == nil)
        #expect(
            events.all.map { "\($0)".prefix { $0 != "(" } } == [
                "circuitOpened", "circuitOpened", "circuitClosed",
            ])
    }

    /// A response with an error status shows that the host can be reached.
    @Test func doesNotOpenOnErrorStatuses() async throws {
        let server = try LoopbackServer { _ in [.response(500, "")] }
        let limits = SourceLimits(breaker: .init(failuresMax: 1))
        let chain = try isbnDB(server.port, limits)
        for _ in 0..<3 {
            let lookup = await chain.edition(FakeSources.fox)
            #expect(lookup.failures == [.isbnDB] && lookup.pausedUntil == nil)
        }
        #expect(server.requests.count == 3)
    }

    /// A timeout counts as a failure only if the deadline was long enough for connecting to the host.
    @Test func doesNotOpenOnATimeoutOfAShortDeadline() async throws {
        let server = try LoopbackServer { _ in [.pause(milliseconds: 1500)] }
        let limits = SourceLimits(breaker: .init(failuresMax: 1))
        let gate = limits.gate(of: .isbnDB)
        let fetcher = Fetcher(
            policy: FetchPolicy(
                userAgent: "t", allowed: try FetchAllowList(parsing: "127.0.0.1")))
        let url = server.url()
        for (allowed, isOpen) in [(Duration.milliseconds(500), false), (.seconds(20), true)] {
            let options = CallOptions(
                deadline: .now.advanced(by: allowed), priority: .interactive)
            await #expect(throws: SourceError.unreachable(.timedOut)) {
                try await gate.perform(options) { () async throws(FetchError) in
                    try await fetcher.fetch(
                        FetchRequest(url: url, deadline: .milliseconds(200)))
                }
            }
            #expect((gate.pausedUntil(.interactive) != nil) == isOpen)
        }
    }

    /// A host that asks for a pause because of overload is paused. A host that refuses the key has failed.
    @Test(arguments: [(429, true), (503, true), (502, true), (401, false), (403, false)])
    func pausesAfterAnOverloadButNotAfterAWrongKey(status: Int, isPause: Bool) async throws {
        let server = try LoopbackServer { _ in
            [.response(status, headers: ["Retry-After: 600"], "{}")]
        }
        let chain = try isbnDB(server.port, SourceLimits())
        let lookup = await chain.edition(FakeSources.fox)
        #expect(lookup.failures == [.isbnDB])
        let pause = lookup.pausedUntil.map { ContinuousClock.now.duration(to: $0) }
        #expect(isPause ? pause.map { $0 > .seconds(500) } == true : pause == nil)
        #expect((chain.pausedUntil(.background) != nil) == isPause)
    }

    // MARK: - Budgets

    /// A budget with a fixed number of requests.
    private final class Counter: Sendable {
        private let left: Mutex<Int>
        let taken = Log<String>()
        init(_ count: Int) { left = Mutex(count) }

        var budget: RequestBudget {
            RequestBudget { host, priority in
                self.taken.add("\(host.rawValue) \(priority.rawValue)")
                return self.left.withLock { left in
                    left -= 1
                    return left >= 0 ? .granted : .exhausted(resetsIn: .seconds(3600))
                }
            }
        }
    }

    @Test func sendsNoRequestsWithoutBudget() async throws {
        let server = try LoopbackServer { _ in [Self.unknownBook] }
        let (clock, counter, events) = (TestClock(), Counter(2), Log<SourceEvent>())
        let limits = SourceLimits(
            budget: counter.budget, now: { clock.now }, onEvent: { events.add($0) })
        let chain = try isbnDB(server.port, limits)
        for _ in 0..<2 {
            #expect(await chain.edition(FakeSources.fox) == .init(misses: [.isbnDB]))
        }
        for _ in 0..<3 {
            let lookup = await chain.edition(FakeSources.fox)
            #expect(lookup.failures == [.isbnDB])
            let pause = try #require(lookup.pausedUntil.map { clock.now.duration(to: $0) })
            #expect(pause > .seconds(3500) && pause <= .seconds(3600))
        }
        #expect(server.requests.count == 2)
        // The budget is not used again before its reset.
        #expect(counter.taken.all.count == 3)
        #expect(limits.gate(of: .isbnDB).counts.refusedByBudget == 3)
        #expect(
            events.all == [
                .budgetExhausted(.isbnDB, .interactive, resetsIn: .seconds(3600))
            ])
        clock.advance(by: .seconds(3601))
        _ = await chain.edition(FakeSources.fox)
        #expect(counter.taken.all.count == 4)
    }

    /// If background work has used up its part of the budget, users' requests are still sent.
    @Test func countsPrioritiesSeparately() async throws {
        let server = try LoopbackServer { _ in [Self.unknownBook] }
        let budget = RequestBudget { _, priority in
            priority == .background ? .exhausted(resetsIn: .seconds(60)) : .granted
        }
        let chain = try isbnDB(server.port, SourceLimits(budget: budget))
        let background = await chain.edition(FakeSources.fox, priority: .background)
        #expect(background.failures == [.isbnDB])
        #expect(chain.pausedUntil(.background) != nil && chain.pausedUntil(.interactive) == nil)
        #expect(await chain.edition(FakeSources.fox) == .init(misses: [.isbnDB]))
    }

    @Test func sendsNoRequestsIfTheBudgetIsUnknown() async throws {
        let server = try LoopbackServer { _ in [Self.unknownBook] }
        let errors = Log<SourceError>()
        let chain = try isbnDB(
            server.port, SourceLimits(budget: RequestBudget { _, _ in .unknown }), errors: errors)
        let lookup = await chain.edition(FakeSources.fox)
        #expect(lookup.failures == [.isbnDB] && lookup.pausedUntil == nil)
        #expect(server.requests.isEmpty && errors.all == [.budgetUnknown])
    }

    /// Each redirect counts as a request.
    @Test func countsRedirects() async throws {
        let server = try LoopbackServer { request in
            request.target.hasPrefix("/book/")
                ? [.response(301, headers: ["Location: /new"])] : [.response(200, #"{"book": {}}"#)]
        }
        let counter = Counter(10)
        let chain = try isbnDB(server.port, SourceLimits(budget: counter.budget))
        #expect(await chain.edition(FakeSources.fox) == .init(misses: [.isbnDB]))
        #expect(server.requests.map(\.target) == ["/book/9780140328721", "/new"])
        #expect(counter.taken.all.count == 2)
    }

    @Test func failsAfterTooManyRedirects() async throws {
        let server = try LoopbackServer { _ in [.response(302, headers: ["Location: /again"])] }
        let errors = Log<SourceError>()
        let chain = try isbnDB(server.port, SourceLimits(), errors: errors)
        #expect(await chain.edition(FakeSources.fox).failures == [.isbnDB])
        #expect(errors.all == [.unreachable(.tooManyRedirects)])
        #expect(server.requests.count == 4)
    }

    /// The result is the earliest end of a pause, but only if all failed sources are paused.
    @Test func returnsTheEndOfThePauseOnlyIfAllFailedSourcesArePaused() async {
        let now = ContinuousClock.now
        func source(_ name: SourceName, pausedFor seconds: Int?) -> BookSource {
            BookSource(
                name: name, edition: { _, _ async throws(SourceError) in throw .busy },
                search: { _, _, _ async throws(SourceError) in throw .busy },
                pausedUntil: { _ in seconds.map { now.advanced(by: .seconds($0)) } })
        }
        let both = SourceChain([
            source(.openLibrary, pausedFor: 60), source(.googleBooks, pausedFor: 30),
        ])
        let end = now.advanced(by: .seconds(30))
        #expect(await both.edition(FakeSources.fox).pausedUntil == end)
        #expect(
            await both.covers(number: FakeSources.fox, title: "Fox", author: "Dahl").pausedUntil
                == end)
        #expect(both.pausedUntil(.background) == end)
        let one = SourceChain([
            source(.openLibrary, pausedFor: 60), source(.googleBooks, pausedFor: nil),
        ])
        #expect(await one.edition(FakeSources.fox).pausedUntil == nil)
        #expect(
            await one.covers(number: FakeSources.fox, title: "Fox", author: "Dahl").pausedUntil
                == nil)
        #expect(one.pausedUntil(.background) == nil)
        #expect(SourceChain([]).pausedUntil(.background) == nil)
    }
}
