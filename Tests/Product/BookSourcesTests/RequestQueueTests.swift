import Basics
import Testing

@testable import BookSources

/// Tests of the order in which waiting requests to a host are sent, without a clock and without a socket.
@Suite struct RequestQueueTests {
    private let start = ContinuousClock.now
    private func at(_ seconds: Double) -> ContinuousClock.Instant {
        start.advanced(by: .seconds(seconds))
    }

    private static let readers = (0..<3).map { UUID(high: 0, low: $0) }

    private func options(
        _ reader: Int?, _ priority: RequestPriority = .interactive, within seconds: Double = 1000
    ) -> CallOptions {
        CallOptions(
            deadline: at(seconds), priority: priority, reader: reader.map { Self.readers[$0] })
    }

    /// A queue as a class, whose methods can be called in an expectation.
    private final class Queue {
        private var queue: RequestQueue

        init(_ limit: RateLimit, now: ContinuousClock.Instant) {
            queue = RequestQueue(limit, now: now)
        }

        var count: Int { queue.count }

        func add(
            _ id: RequestQueue.ID, _ options: CallOptions, at now: ContinuousClock.Instant
        ) -> SourceError? {
            queue.add(id, options, at: now)
        }

        func sent(at now: ContinuousClock.Instant) -> [RequestQueue.ID] {
            queue.takeDue(at: now).sent
        }

        func late(at now: ContinuousClock.Instant) -> [RequestQueue.ID] {
            queue.takeDue(at: now).late
        }

        func nextDue(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
            queue.nextDue(at: now)
        }

        func remove(_ id: RequestQueue.ID) -> Bool { queue.remove(id) }

        func change(_ change: (inout RateLimiter) -> Void) { change(&queue.limiter) }
    }

    /// A queue whose bucket contains no more tokens for readers.
    private func emptyQueue(perSecond: Double = 1, burst: Double = 1) -> Queue {
        let queue = Queue(RateLimit(perSecond: perSecond, burst: burst), now: start)
        queue.change { while $0.take(.interactive, at: start) {} }
        return queue
    }

    /// Returns the order in which all waiting requests are sent.
    private func order(_ queue: Queue) -> [RequestQueue.ID] {
        var sent: [RequestQueue.ID] = []
        var now = start
        while let next = queue.nextDue(at: now) {
            now = max(now, next)
            sent += queue.sent(at: now)
        }
        return sent
    }

    /// Requests by the number of their reader, in the order of their arrival.
    @Test(
        arguments: [
            ([0, 0, 0, 1], [0, 3, 1, 2]),
            ([0, 0, 0, 1, 1, 2], [0, 3, 5, 1, 4, 2]),
            ([0, 1, 0, 1, 0, 1], [0, 1, 2, 3, 4, 5]),
            ([nil, nil, 0], [0, 2, 1]),
        ] as [([Int?], [RequestQueue.ID])])
    func readersTakeTurns(readers: [Int?], order: [RequestQueue.ID]) {
        for priority in [RequestPriority.interactive, .background] {
            let queue = emptyQueue()
            for (id, reader) in readers.enumerated() {
                #expect(queue.add(UInt64(id), options(reader, priority), at: start) == nil)
            }
            #expect(self.order(queue) == order)
            #expect(queue.count == 0)
        }
    }

    /// A reader whose turn has passed waits for the others again.
    @Test func readerTakesTheNextTurnAfterTheOthers() {
        let queue = emptyQueue()
        for id in 0..<3 { _ = queue.add(UInt64(id), options(0), at: start) }
        _ = queue.add(3, options(1), at: start)
        #expect(queue.sent(at: at(1)) == [0])
        #expect(queue.sent(at: at(2)) == [3])
        _ = queue.add(4, options(1), at: at(2))
        #expect(queue.sent(at: at(3)) == [1])
        #expect(queue.sent(at: at(4)) == [4])
    }

    @Test func readersComeBeforeBackgroundWork() {
        let queue = Queue(RateLimit(perSecond: 1, burst: 4), now: start)
        for id in 0..<10 { _ = queue.add(UInt64(id), options(nil, .background), at: start) }
        #expect(queue.sent(at: start) == [0, 1])
        // The reserve of two requests.
        for id in 10..<13 { _ = queue.add(UInt64(id), options(0), at: start) }
        #expect(queue.sent(at: start) == [10, 11])
        #expect(queue.sent(at: at(1)) == [12])
        // Background work continues when the reserve is there again.
        #expect(queue.nextDue(at: at(1)) == at(4))
        #expect(queue.sent(at: at(3.9)) == [])
        #expect(queue.sent(at: at(4)) == [2])
    }

    @Test func refusesRequestsThatWouldBeLate() {
        let queue = emptyQueue()
        #expect(queue.add(0, options(0, within: 0.9), at: start) == .busy)
        for id in 0..<2 { #expect(queue.add(UInt64(id), options(0), at: start) == nil) }
        // It would be in time without the other two requests of its reader.
        #expect(queue.add(3, options(0, within: 2.5), at: start) == .tooManyWaiting)
        // One of the two is before that of another reader.
        #expect(queue.add(4, options(1, within: 1.5), at: start) == .busy)
        #expect(queue.add(5, options(1, within: 2), at: start) == nil)
        #expect(queue.add(6, options(nil, .background, within: 3), at: start) == .busy)
        #expect(queue.add(7, options(nil, .background, within: 4), at: start) == nil)
        #expect(queue.count == 4)
    }

    @Test func limitsTheWaitingRequestsOfAReader() {
        let queue = emptyQueue(perSecond: 100)
        let waitingMax = RequestQueue.waitingOfReaderMax
        let results = (0..<waitingMax + 1).map { queue.add(UInt64($0), options(0), at: start) }
        #expect(results == Array(repeating: nil, count: waitingMax) + [.tooManyWaiting])
        #expect(queue.add(100, options(1), at: start) == nil)
        for id in 200..<300 {
            #expect(queue.add(UInt64(id), options(nil, .background), at: start) == nil)
        }
    }

    @Test func returnsLateAndRemovesCancelledRequests() {
        let queue = emptyQueue()
        _ = queue.add(0, options(0), at: start)
        _ = queue.add(1, options(1, within: 2), at: start)
        _ = queue.add(2, options(2), at: start)
        #expect(queue.remove(0) && !queue.remove(0))
        queue.change {
            $0.recordRefusal(at: start, retryAfter: .seconds(60), base: .seconds(1))
        }
        #expect(queue.nextDue(at: start) == at(2))
        #expect(queue.sent(at: at(1.9)) == [])
        #expect(queue.late(at: at(2.1)) == [1])
        #expect(queue.nextDue(at: at(2.1)) == at(60))
        #expect(queue.sent(at: at(60)) == [2])
        #expect(queue.nextDue(at: at(60)) == nil)
    }
}
