import Basics

/// Decides which waiting request to a host is sent next, and when. It has no clock and sends nothing: `RequestTurns` does.
///
/// Interactive requests are sent before background ones. Among requests of the same priority, the readers take turns: each turn
/// sends the oldest request of one reader. Requests without a reader take turns as if they were those of one more reader.
///
/// For example, three requests of A wait when B adds one. They are sent in the order A, B, A, A.
struct RequestQueue {
    typealias Instant = ContinuousClock.Instant
    typealias ID = UInt64

    /// The maximum number of interactive requests of one reader that wait for one host. An edition takes up to four requests.
    static let waitingOfReaderMax = 16

    /// The requests of one priority.
    private struct Waiting {
        /// Contains only readers with waiting requests; each list is in the order of arrival and not empty.
        private(set) var byReader: [UUID?: [(id: ID, deadline: Instant)]] = [:]
        /// The readers with waiting requests, in the order of their turns.
        private var turns: [UUID?] = []

        var count: Int { byReader.values.reduce(0) { $0 + $1.count } }

        var earliestDeadline: Instant? { byReader.values.joined().map(\.deadline).min() }

        func count(of reader: UUID?) -> Int { byReader[reader]?.count ?? 0 }

        /// The number of requests that are sent before a new one of the reader.
        func countBefore(newRequestOf reader: UUID?) -> Int {
            let own = count(of: reader)
            return byReader.reduce(0) {
                $0 + ($1.key == reader ? own : min($1.value.count, own + 1))
            }
        }

        mutating func append(_ id: ID, of reader: UUID?, deadline: Instant) {
            if byReader[reader] == nil { turns.append(reader) }
            byReader[reader, default: []].append((id, deadline))
        }

        /// Removes the oldest request of the reader whose turn it is.
        mutating func removeNext() -> ID? {
            guard let reader = turns.first, let id = byReader[reader]?.removeFirst().id else {
                return nil
            }
            turns.removeFirst()
            if byReader[reader]?.isEmpty == true {
                byReader[reader] = nil
            } else {
                turns.append(reader)
            }
            return id
        }

        /// Removes the requests for which `isRemoved` is true, and returns them.
        mutating func remove(where isRemoved: (ID, Instant) -> Bool) -> [ID] {
            var removed: [ID] = []
            for (reader, requests) in byReader {
                let left = requests.filter { !isRemoved($0.id, $0.deadline) }
                guard left.count < requests.count else { continue }
                removed += requests.filter { isRemoved($0.id, $0.deadline) }.map(\.id)
                byReader[reader] = left.isEmpty ? nil : left
            }
            turns.removeAll { byReader[$0] == nil }
            return removed
        }
    }

    var limiter: RateLimiter
    private var interactive = Waiting()
    private var background = Waiting()

    init(_ limit: RateLimit, now: Instant) { limiter = RateLimiter(limit, now: now) }

    var count: Int { interactive.count + background.count }

    /// Adds a request.
    ///
    /// - Returns: nil if the request was added, or why not: it could only be sent after its deadline, because of other requests of
    ///   its reader (`.tooManyWaiting`) or for another reason (`.busy`), or the reader has `waitingOfReaderMax` waiting requests.
    mutating func add(_ id: ID, _ options: CallOptions, at now: Instant) -> SourceError? {
        let (reader, deadline) = (options.reader, options.deadline)
        guard options.priority == .interactive else {
            let before = interactive.count + background.countBefore(newRequestOf: reader)
            let start = limiter.start(ofRequest: before + 1, .background, at: now)
            guard start <= deadline else { return .busy }
            background.append(id, of: reader, deadline: deadline)
            return nil
        }
        let own = reader == nil ? 0 : interactive.count(of: reader)
        let before = interactive.countBefore(newRequestOf: reader)
        if own >= Self.waitingOfReaderMax { return .tooManyWaiting }
        guard limiter.start(ofRequest: before + 1, .interactive, at: now) <= deadline else {
            // Whether the request is late because of other requests of its reader.
            let first = limiter.start(ofRequest: before - own + 1, .interactive, at: now)
            return own > 0 && first <= deadline ? .tooManyWaiting : .busy
        }
        interactive.append(id, of: reader, deadline: deadline)
        return nil
    }

    /// Removes the requests that may be sent now, in their order, and those whose deadline has passed.
    mutating func takeDue(at now: Instant) -> (sent: [ID], late: [ID]) {
        let isLate = { (_: ID, deadline: Instant) in deadline < now }
        let late = interactive.remove(where: isLate) + background.remove(where: isLate)
        var sent: [ID] = []
        while interactive.count > 0, limiter.take(.interactive, at: now) {
            if let id = interactive.removeNext() { sent.append(id) }
        }
        while interactive.count == 0, background.count > 0, limiter.take(.background, at: now) {
            if let id = background.removeNext() { sent.append(id) }
        }
        return (sent, late)
    }

    /// When `takeDue` next returns a request. nil if none waits.
    mutating func nextDue(at now: Instant) -> Instant? {
        guard count > 0 else { return nil }
        let priority: RequestPriority = interactive.count > 0 ? .interactive : .background
        let deadlines = [interactive.earliestDeadline, background.earliestDeadline]
        return ([limiter.start(ofRequest: 1, priority, at: now)] + deadlines.compactMap { $0 })
            .min()
    }

    /// Removes a request. Returns whether it was waiting.
    mutating func remove(_ id: ID) -> Bool {
        let isRemoved = { (other: ID, _: Instant) in other == id }
        return !interactive.remove(where: isRemoved).isEmpty
            || !background.remove(where: isRemoved).isEmpty
    }
}
