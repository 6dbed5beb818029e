import Basics
import HTTPFetch
import Synchronization

/// The external sources of book data, in the order in which they are queried.
///
/// A lookup queries the first source. If data is missing from its record, the next source fills it, and so on. If a source does
/// not respond within 800 ms, the next one is queried concurrently.
package final class SourceChain: Sendable {
    package typealias Instant = ContinuousClock.Instant

    /// The URLs and keys of the sources. A source whose URL is nil is switched off.
    package struct Configuration: Sendable {
        /// URLs have no trailing slash.
        package var openLibraryURL: String?
        package var openLibraryCoversURL: String?
        package var googleBooksURL: String?
        package var googleBooksKey: String?
        package var isbnDBURL: String?
        package var isbnDBKey: String?
        /// Hosts and networks that may be reached although they are private.
        package var allowed: [String] = []
        /// The e-mail or web address of the operator.
        package var contact = ""

        package init() {}
    }

    /// The maximum duration of a lookup.
    package static let budget = Duration.milliseconds(2500)
    /// The time after which the next source is queried although the last one has not responded.
    private static let slowSourceDelay = Duration.milliseconds(800)
    /// How long a lookup waits for the remaining responses after it has a recognizable record.
    private static let gracePeriod = Duration.milliseconds(1000)

    let sources: [BookSource]
    package let limits: SourceLimits
    let onFailure: @Sendable (SourceName, SourceError) -> Void
    private let searchLimiter = Mutex(SearchLimiter(now: .now))
    private let lookups = SingleFlight<LookupKey, Lookup>()

    private struct LookupKey: Hashable {
        var number: BookNumber
        var skipped: Set<SourceName>
        var waitsForAll = false
        var priority: RequestPriority
        /// One reader's lookup neither waits in the turns of another one nor fails because of them.
        var reader: UUID?
    }

    /// - Parameters:
    ///   - fetcher: Its user agent must contain a contact. Otherwise Open Library refuses requests.
    ///   - limits: The limits, which all requests of the process to the same hosts share.
    ///   - onFailure: Called for each failed request, for the log.
    package convenience init(
        _ configuration: Configuration, fetcher: Fetcher, limits: SourceLimits = SourceLimits(),
        onFailure: @escaping @Sendable (SourceName, SourceError) -> Void = { _, _ in }
    ) {
        var sources: [BookSource] = []
        if let url = configuration.openLibraryURL {
            let covers = configuration.openLibraryCoversURL
            sources.append(OpenLibrary(fetcher, limits, url: url, coversURL: covers).source)
        }
        if let url = configuration.googleBooksURL {
            let key = configuration.googleBooksKey
            sources.append(GoogleBooks(fetcher, limits, url: url, key: key).source)
        }
        if let url = configuration.isbnDBURL, let key = configuration.isbnDBKey {
            sources.append(ISBNdb(fetcher, limits, url: url, key: key).source)
        }
        self.init(sources, limits: limits, onFailure: onFailure)
    }

    package init(
        _ sources: [BookSource], limits: SourceLimits = SourceLimits(),
        onFailure: @escaping @Sendable (SourceName, SourceError) -> Void = { _, _ in }
    ) {
        self.sources = sources
        self.limits = limits
        self.onFailure = onFailure
    }

    /// The names of the enabled sources, in their order.
    package var names: [SourceName] { sources.map(\.name) }

    /// The earliest instant at which a source accepts requests of this priority again. nil if a source accepts them now, or if
    /// there are no sources.
    package func pausedUntil(_ priority: RequestPriority) -> Instant? {
        var pauses = FailurePauses()
        for source in sources { pauses.add(source.pausedUntil(priority)) }
        return pauses.end
    }

    /// Takes one search from the rate limit of all searches and from that of the reader. Searches have limits of their own, so that
    /// they do not use up the requests that lookups need.
    ///
    /// - Returns: Whether the reader may search now.
    package func takeSearch(of reader: UUID) -> Bool {
        searchLimiter.withLock { $0.take(for: reader, at: .now) }
    }

    /// The combined responses of the sources for one ISBN.
    package struct Lookup: Sendable, Equatable {
        package var record: BookRecord?
        /// The sources that do not have the edition.
        package var misses: [SourceName] = []
        /// The sources whose requests failed or did not end in time.
        ///
        /// If the record is complete, sources that have not responded yet are not failures.
        package var failures: [SourceName] = []
        /// When a retry is useful, if all failed sources are paused. nil if one of them failed for another reason.
        package var pausedUntil: Instant?
        /// Whether a source was not queried because too many requests of the reader wait for it.
        package var hasTooManyWaiting = false

        package init(
            record: BookRecord? = nil, misses: [SourceName] = [], failures: [SourceName] = [],
            pausedUntil: Instant? = nil
        ) {
            self.record = record
            self.misses = misses
            self.failures = failures
            self.pausedUntil = pausedUntil
        }
    }

    // MARK: - By ISBN

    /// Looks up an edition. Concurrent calls with the same parameters share one lookup.
    ///
    /// - Parameters:
    ///   - skipped: Sources that are known not to have the edition.
    ///   - budget: The time after which the data that has arrived is returned.
    ///   - waitsForAll: Whether to wait for slow sources as long as data is missing. For background work.
    ///   - reader: The user for whom the lookup is. nil for work for no user.
    package func edition(
        _ number: BookNumber, skipping skipped: Set<SourceName> = [],
        within budget: Duration = SourceChain.budget, waitsForAll: Bool = false,
        priority: RequestPriority = .interactive, for reader: UUID? = nil
    ) async -> Lookup {
        let options = CallOptions(
            deadline: .now.advanced(by: budget), priority: priority, reader: reader)
        let key = LookupKey(
            number: number, skipped: skipped, waitsForAll: waitsForAll, priority: priority,
            reader: reader)
        return await lookups.value(of: key) {
            await self.lookUp(
                number, self.sources.filter { !skipped.contains($0.name) }, options,
                waitsForAll: waitsForAll)
        }
    }

    /// Looks up many editions.
    ///
    /// A source that supports it is sent a single request for all of them. The editions that it does not return are looked up
    /// individually.
    ///
    /// - Parameters:
    ///   - budget: The time after which the data that has arrived is returned.
    ///   - reader: The user who waits for the lookups.
    package func editions(
        _ numbers: [BookNumber], skipping skipped: [BookNumber: Set<SourceName>] = [:],
        within budget: Duration = SourceChain.budget, for reader: UUID? = nil
    ) async -> [BookNumber: Lookup] {
        guard numbers.count > 1 else {
            guard let number = numbers.first else { return [:] }
            return [
                number: await edition(
                    number, skipping: skipped[number] ?? [], within: budget, for: reader)
            ]
        }
        let deadline = ContinuousClock.now.advanced(by: budget)
        var found: [BookNumber: Lookup] = [:]
        for source in sources {
            guard let editions = source.editions else { continue }
            let missing = numbers.filter {
                found[$0] == nil && skipped[$0]?.contains(source.name) != true
            }
            guard !missing.isEmpty else { continue }
            // Use at most half of the budget, so that there is time left to look up the others individually.
            let half = ContinuousClock.now.advanced(by: budget / 2)
            let options = CallOptions(
                deadline: min(half, deadline), priority: .interactive, reader: reader)
            do throws(SourceError) {
                for (number, record) in try await editions(missing, options) {
                    found[number] = Lookup(record: record)
                }
            } catch {
                onFailure(source.name, error)
            }
        }
        await withTaskGroup(of: (BookNumber, Lookup).self) { group in
            for number in numbers where found[number] == nil {
                group.addTask {
                    let left = ContinuousClock.now.duration(to: deadline)
                    let lookup = await self.edition(
                        number, skipping: skipped[number] ?? [], within: left, for: reader)
                    return (number, lookup)
                }
            }
            for await (number, lookup) in group { found[number] = lookup }
        }
        return found
    }

    /// An event during a lookup. The integer is the index of a source.
    private enum Event {
        case response(Int, Result<BookRecord?, SourceError>)
        /// The source was queried `slowSourceDelay` ago.
        case slow(Int)
        /// The deadline or the grace period has ended.
        case timeOver
    }

    /// Queries the sources one after the other until the record is complete or the deadline has passed.
    ///
    /// The next source is queried when the last one has responded, or earlier when the last one is slow. As soon as the record is
    /// recognizable, the lookup waits for the remaining responses only for the grace period, unless `waitsForAll` is set.
    private func lookUp(
        _ number: BookNumber, _ sources: [BookSource], _ options: CallOptions, waitsForAll: Bool
    ) async -> Lookup {
        let deadline = options.deadline
        return await withTaskGroup(of: Event.self) { group in
            var results = [Result<BookRecord?, SourceError>?](repeating: nil, count: sources.count)
            var next = 0
            func queryNext() {
                guard next < sources.count else { return }
                let index = next
                next += 1
                group.addTask {
                    // A variable, because of a compiler bug: docs/decisions/task-group-tuples.md.
                    let result: Result<BookRecord?, SourceError>
                    do throws(SourceError) {
                        result = .success(try await sources[index].edition(number, options))
                    } catch {
                        result = .failure(error)
                    }
                    return .response(index, result)
                }
                group.addTask {
                    try? await Task.sleep(for: Self.slowSourceDelay)
                    return .slow(index)
                }
            }
            func end(at instant: Instant) {
                group.addTask {
                    try? await Task.sleep(until: instant, clock: .continuous)
                    return .timeOver
                }
            }
            end(at: deadline)
            queryNext()
            var isInGracePeriod = false
            events: while next > results.count(where: { $0 != nil }), let event = await group.next()
            {
                switch event {
                case .timeOver: break events
                case .slow(let index): if results[index] == nil { queryNext() }
                case .response(let index, let result):
                    results[index] = result
                    let lookup = merged(sources.prefix(next), results, options.priority)
                    if lookup.record?.isComplete == true { break events }
                    if index == next - 1 || results.prefix(next).allSatisfy({ $0 != nil }) {
                        queryNext()
                    }
                    if !waitsForAll, lookup.record?.isRecognizable == true, !isInGracePeriod {
                        isInGracePeriod = true
                        end(at: min(deadline, .now.advanced(by: Self.gracePeriod)))
                    }
                }
            }
            group.cancelAll()
            for (index, result) in results.enumerated() {
                if case .failure(let error)? = result { onFailure(sources[index].name, error) }
            }
            return merged(sources.prefix(next), results, options.priority)
        }
    }

    /// Merges the results of the queried sources in the order of the sources. A result is nil if there is no response yet.
    private func merged(
        _ sources: ArraySlice<BookSource>, _ results: [Result<BookRecord?, SourceError>?],
        _ priority: RequestPriority
    ) -> Lookup {
        var lookup = Lookup()
        var pauses = FailurePauses()
        var pending: [SourceName] = []
        for (source, result) in zip(sources, results) {
            switch result {
            case .success(let record?):
                if lookup.record == nil {
                    lookup.record = record
                } else {
                    lookup.record?.fill(from: record)
                }
            case .success(nil): lookup.misses.append(source.name)
            case .failure(let error):
                lookup.failures.append(source.name)
                pauses.add(source.pausedUntil(priority))
                if error == .tooManyWaiting { lookup.hasTooManyWaiting = true }
            case nil: pending.append(source.name)
            }
        }
        if lookup.record?.isComplete != true {
            lookup.failures += pending
            for _ in pending { pauses.add(nil) }
        }
        lookup.pausedUntil = pauses.end
        return lookup
    }
}
