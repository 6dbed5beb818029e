import HTTPFetch
import Synchronization

/// The outside sources, asked in their order: each fills what those before it do not say.
package final class SourceChain: Sendable {
    package typealias Instant = ContinuousClock.Instant

    /// Where the sources are; nil is switched off.
    package struct Configuration: Sendable {
        /// Addresses without a slash at their ends.
        package var openLibraryURL: String?
        package var openLibraryCoversURL: String?
        package var googleBooksURL: String?
        package var googleBooksKey: String?
        package var isbnDBURL: String?
        package var isbnDBKey: String?
        /// Hosts and networks that may be reached though they are private.
        package var allowed: [String] = []
        /// Who answers for this program: a mail or web address.
        package var contact = ""

        package init() {}
    }

    /// What a look-up may take altogether.
    package static let budget = Duration.milliseconds(2500)
    /// A source that has not answered by then no longer keeps the next one waiting.
    private static let patience = Duration.milliseconds(800)
    /// How long a book that is known well enough waits for the rest of what is under way.
    private static let grace = Duration.milliseconds(1000)

    let sources: [BookSource]
    package let limits: SourceLimits
    let onFailure: @Sendable (SourceName, SourceError) -> Void
    let searchPace = Mutex(RequestPace(RateLimit(perSecond: 0.5, burst: 15), now: .now))
    private let flights = SingleFlight<Question, Lookup>()

    private struct Question: Hashable {
        var number: BookNumber
        var skipped: Set<SourceName>
        var waitsForAll = false
        var priority: RequestPriority
    }

    /// - Parameters:
    ///   - fetcher: its user agent must name a contact; Open Library refuses requests without one.
    ///   - limits: shared with the process's other requests to the same hosts.
    ///   - onFailure: called with each failed request, for the log.
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

    /// The sources that are switched on, in their order.
    package var names: [SourceName] { sources.map(\.name) }

    /// The earliest instant at which a source accepts requests of this priority again; nil where one accepts them now, or
    /// there are no sources.
    package func pausedUntil(_ priority: RequestPriority) -> Instant? {
        var pauses = FailurePauses()
        for source in sources { pauses.add(source.pausedUntil(priority)) }
        return pauses.end
    }

    /// The responses of all sources for one ISBN.
    package struct Lookup: Sendable, Equatable {
        package var record: BookRecord?
        /// Those that said they do not know it.
        package var misses: [SourceName] = []
        /// Those that could not say, or not in time; none that was not waited for because nothing was missing any more.
        package var failures: [SourceName] = []
        /// When it is worth asking again, if all failed sources are paused; nil if one failed for another reason.
        package var pausedUntil: Instant?

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

    /// Looks an edition up, whoever else asks for it at the same time.
    ///
    /// - Parameters:
    ///   - skipped: sources that are known not to know it.
    ///   - waitsForAll: whether to wait for slow sources as long as data is missing. For background work.
    /// - Returns: within the budget; what is known by then.
    package func edition(
        _ number: BookNumber, skipping skipped: Set<SourceName> = [],
        within budget: Duration = SourceChain.budget, waitsForAll: Bool = false,
        priority: RequestPriority = .interactive
    ) async -> Lookup {
        let options = CallOptions(deadline: .now.advanced(by: budget), priority: priority)
        let question = Question(
            number: number, skipped: skipped, waitsForAll: waitsForAll, priority: priority)
        return await flights.value(of: question) {
            await self.ask(
                number, self.sources.filter { !skipped.contains($0.name) }, options,
                waitsForAll: waitsForAll)
        }
    }

    /// Looks many up: all of them by one request where a source has such, the others one by one.
    package func editions(
        _ numbers: [BookNumber], skipping skipped: [BookNumber: Set<SourceName>] = [:],
        within budget: Duration = SourceChain.budget
    ) async -> [BookNumber: Lookup] {
        guard numbers.count > 1 else {
            guard let number = numbers.first else { return [:] }
            return [number: await edition(number, skipping: skipped[number] ?? [], within: budget)]
        }
        let deadline = ContinuousClock.now.advanced(by: budget)
        var found: [BookNumber: Lookup] = [:]
        for source in sources {
            guard let editions = source.editions else { continue }
            let wanted = numbers.filter {
                found[$0] == nil && skipped[$0]?.contains(source.name) != true
            }
            guard !wanted.isEmpty else { continue }
            // Half the time, so that the rest can still be asked one by one.
            let half = ContinuousClock.now.advanced(by: budget / 2)
            let options = CallOptions(deadline: min(half, deadline), priority: .interactive)
            do throws(SourceError) {
                for (number, record) in try await editions(wanted, options) {
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
                        number, skipping: skipped[number] ?? [], within: left)
                    return (number, lookup)
                }
            }
            for await (number, lookup) in group { found[number] = lookup }
        }
        return found
    }

    private enum Event {
        case answer(Int, Result<BookRecord?, SourceError>)
        case impatient(Int)
        case late
    }

    /// Asks one source after the other, the next one before its turn where one is slow, until all is
    /// known that a page shows or the time is over.
    private func ask(
        _ number: BookNumber, _ sources: [BookSource], _ options: CallOptions, waitsForAll: Bool
    ) async -> Lookup {
        let deadline = options.deadline
        return await withTaskGroup(of: Event.self) { group in
            var answers = [Result<BookRecord?, SourceError>?](repeating: nil, count: sources.count)
            var next = 0
            func askNext() {
                guard next < sources.count else { return }
                let place = next
                next += 1
                group.addTask {
                    // A variable, because of a compiler bug: docs/decisions/task-group-tuples.md.
                    let result: Result<BookRecord?, SourceError>
                    do throws(SourceError) {
                        result = .success(try await sources[place].edition(number, options))
                    } catch {
                        result = .failure(error)
                    }
                    return .answer(place, result)
                }
                group.addTask {
                    try? await Task.sleep(for: Self.patience)
                    return .impatient(place)
                }
            }
            func end(at instant: Instant) {
                group.addTask {
                    try? await Task.sleep(until: instant, clock: .continuous)
                    return .late
                }
            }
            end(at: deadline)
            askNext()
            var isGracious = false
            events: while next > answers.count(where: { $0 != nil }), let event = await group.next()
            {
                switch event {
                case .late: break events
                case .impatient(let place): if answers[place] == nil { askNext() }
                case .answer(let place, let answer):
                    answers[place] = answer
                    let lookup = gathered(sources.prefix(next), answers, options.priority)
                    if lookup.record?.isComplete == true { break events }
                    if place == next - 1 || answers.prefix(next).allSatisfy({ $0 != nil }) {
                        askNext()
                    }
                    if !waitsForAll, lookup.record?.isRecognizable == true, !isGracious {
                        isGracious = true
                        end(at: min(deadline, .now.advanced(by: Self.grace)))
                    }
                }
            }
            group.cancelAll()
            for (place, answer) in answers.enumerated() {
                if case .failure(let error)? = answer { onFailure(sources[place].name, error) }
            }
            return gathered(sources.prefix(next), answers, options.priority)
        }
    }

    /// The answers of those that were asked, in the sources' order, whichever came first.
    private func gathered(
        _ sources: ArraySlice<BookSource>, _ answers: [Result<BookRecord?, SourceError>?],
        _ priority: RequestPriority
    ) -> Lookup {
        var lookup = Lookup()
        var pauses = FailurePauses()
        var unheard: [SourceName] = []
        for (source, answer) in zip(sources, answers) {
            switch answer {
            case .success(let record?):
                if lookup.record == nil {
                    lookup.record = record
                } else {
                    lookup.record?.fill(from: record)
                }
            case .success(nil): lookup.misses.append(source.name)
            case .failure:
                lookup.failures.append(source.name)
                pauses.add(source.pausedUntil(priority))
            case nil: unheard.append(source.name)
            }
        }
        if lookup.record?.isComplete != true {
            lookup.failures += unheard
            for _ in unheard { pauses.add(nil) }
        }
        lookup.pausedUntil = pauses.end
        return lookup
    }
}
