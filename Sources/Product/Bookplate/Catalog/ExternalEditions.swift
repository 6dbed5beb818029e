import BookSources
import JobQueue
import Postgres
import Requests

/// Fetches editions that the catalog does not have from external sources.
enum ExternalEditions {
    /// How long a source is not queried again for an ISBN that it does not know.
    private static let missSeconds: Int32 = 24 * 3600
    /// The maximum number of editions that one transaction saves. Imports of the catalog wait for its end.
    private static let savedMax = 10
    /// How long a request tries to save editions that other transactions have locked.
    private static let savingTime = Duration.seconds(8)
    /// The same for a search, whose books are only suggestions.
    static let searchSavingTime = Duration.seconds(1)
    private static let savingPause = Duration.milliseconds(200)
    /// When a reader may repeat a lookup that was refused because too many of the reader's lookups were waiting.
    private static let waitingSeconds = 3

    /// Looks up ISBNs at the sources and saves the editions that they know in the catalog. Charges each lookup.
    ///
    /// - Returns: The errors of the ISBNs for which no source could answer, or whose editions could not be saved. Editions of the
    ///   other ISBNs have been saved in the catalog if a source knew them.
    /// - Throws: `.rateLimited` if the caller does not have enough units for all lookups. None is made then.
    static func fetch(
        _ isbns: [ISBN], for request: RequestContext
    ) async throws(BookplateError) -> [ISBN: BookplateError] {
        let reader = try request.caller().userID
        let sources = request.services.bookSources
        guard !isbns.isEmpty, !sources.names.isEmpty else { return [:] }
        var misses = try await misses(of: isbns, for: request)
        let requested = isbns.filter {
            misses[BookNumber($0)]?.isSuperset(of: sources.names) != true
        }
        try request.charges.charge(requested.count * RateLimits.unitsPerLookup)
        let lookups = await sources.editions(
            requested.map { BookNumber($0) }, skipping: misses, for: reader)

        var found: [EditionFacts] = []
        var newMisses: [(SourceName, ISBN)] = []
        var errors: [ISBN: BookplateError] = [:]
        // All requests save books in the same order, so that they seldom wait for each other.
        for isbn in requested.sorted(by: { $0.description < $1.description }) {
            let number = BookNumber(isbn)
            guard let lookup = lookups[number] else { continue }
            if let facts = lookup.record.flatMap({ EditionFacts($0, isbn: isbn) }) {
                found.append(facts)
            }
            newMisses += lookup.misses.map { ($0, isbn) }
            misses[number, default: []].formUnion(lookup.misses)
            guard lookup.record == nil, misses[number]?.isEmpty != false else { continue }
            errors[isbn] =
                lookup.hasTooManyWaiting
                ? .rateLimited(retryAfterSeconds: waitingSeconds)
                : .upstreamUnavailable(.init(.sourcesUnavailable))
        }
        guard !found.isEmpty || !newMisses.isEmpty else { return errors }
        let locked = try await save(found, within: savingTime, for: request) { editions, pipeline in
            for facts in editions where !facts.coverLinks.isEmpty {
                guard let number = facts.number else { continue }
                pipeline.enqueue(
                    FetchEditionCover.self, .init(isbn13: number), for: nil, key: number,
                    priority: .background)
            }
            if !newMisses.isEmpty { remember(newMisses, in: &pipeline) }
            newMisses = []
        }
        for isbn in locked.compactMap(\.isbn) {
            errors[isbn] = .upstreamUnavailable(.init(.sourcesUnavailable))
        }
        return errors
    }

    /// Saves editions in the catalog, a few in each transaction.
    ///
    /// Another transaction, such as an import of the catalog, may have locked some of them. A transaction that finds one saves no
    /// later one, so these are saved by the next transaction. The locked ones are tried again until the time is over.
    ///
    /// - Parameters:
    ///   - time: How long to try. Without a locked edition, all are saved, however long it takes.
    ///   - appendMore: Appends further statements to each transaction, given the editions that it saves.
    /// - Returns: The editions that were not saved.
    static func save(
        _ editions: [EditionFacts], within time: Duration, for request: RequestContext,
        _ appendMore: (_ editions: [EditionFacts], _ pipeline: inout Pipeline) -> Void = { _, _ in }
    ) async throws(BookplateError) -> [EditionFacts] {
        let end = ContinuousClock.now + time
        var waiting = editions
        var locked: [EditionFacts] = []
        repeat {
            let batch = Array(waiting.prefix(savedMax))
            let (results, keys) = try await request.write { pipeline, _ in
                let keys = EditionFacts.append(batch, to: &pipeline)
                appendMore(batch, &pipeline)
                return keys
            }
            let unsaved = zip(batch, keys).filter { results[$0.1].first != true }.map(\.0)
            locked += unsaved.prefix(1)
            waiting = Array(unsaved.dropFirst() + waiting.dropFirst(batch.count))
            guard locked.isEmpty || ContinuousClock.now < end else { break }
            if waiting.isEmpty, !locked.isEmpty {
                try? await Task.sleep(for: savingPause)
                (waiting, locked) = (locked, [])
            }
        } while !waiting.isEmpty
        return locked + waiting
    }

    /// Returns the sources that do not know an ISBN, by ISBN.
    private static func misses(
        of isbns: [ISBN], for request: RequestContext
    ) async throws(BookplateError) -> [BookNumber: Set<SourceName>] {
        let rows = try await request.read { pipeline, _ in
            var parameters = Parameters()
            parameters.append(texts: isbns.map(\.description))
            return pipeline.append(Miss.query, parameters)
        }
        var misses: [BookNumber: Set<SourceName>] = [:]
        for row in rows { misses[BookNumber(row.isbn), default: []].insert(row.source) }
        return misses
    }

    private struct Miss: RowDecodable {
        let isbn: ISBN
        let source: SourceName

        init?(_ row: inout RowReader) {
            guard let isbn = row.text().flatMap({ ISBN($0) }),
                let source = row.text().flatMap({ SourceName(rawValue: $0) })
            else { return nil }
            self.isbn = isbn
            self.source = source
        }

        static let query = TypedStatement<Self>(
            """
            SELECT isbn13, source
            FROM source_misses
            WHERE isbn13 = ANY($1) AND expires_at > now()
            """)
    }

    private static func remember(_ misses: [(SourceName, ISBN)], in pipeline: inout Pipeline) {
        var parameters = Parameters()
        parameters.append(texts: misses.map(\.0.rawValue))
        parameters.append(texts: misses.map(\.1.description))
        parameters.append(int32: missSeconds)
        pipeline.append(rememberMisses, parameters)
    }

    /// Records that the sources `$1` do not know the ISBNs `$2`, for `$3` seconds. The order prevents deadlocks between servers.
    private static let rememberMisses = Statement(
        """
        INSERT INTO source_misses (source, isbn13, expires_at)
        SELECT DISTINCT given.source, given.isbn13, now() + $3 * interval '1 second'
        FROM unnest($1, $2) AS given (source, isbn13)
        ORDER BY 2, 1
        ON CONFLICT (source, isbn13) DO UPDATE
        SET expires_at = excluded.expires_at
        """)
}
