import BookSources
import Bookplate
import Postgres

/// Fills missing data of the catalog's editions from external sources, the most popular editions first:
/// `bookplate-admin backfill editions`.
///
/// The transaction that saves the result of an edition also records when the edition was looked up. Therefore an
/// interrupted run continues with the next edition.
package struct EditionBackfill {
    /// The minimum time between two lookups of an edition.
    private static let pause = "30 days"
    /// The maximum time of a lookup. It is long because no request waits for the result.
    private static let budget = Duration.seconds(30)

    private let connection: AdminConnection

    package init(_ connection: AdminConnection) { self.connection = connection }

    /// Returns the number of incomplete editions whose lookup is due.
    package func remaining() throws(PostgresError) -> Int {
        let counts = try connection.query("SELECT count(*) FROM editions e WHERE \(Self.isDue)")
            .decode(Int64.self)
        return Int(counts.first ?? 0)
    }

    /// Looks up the editions that are due and saves the results. Ends early if no source answers any lookup of a batch.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of editions.
    ///   - beforeBatch: Called before each batch. An error that it throws ends the run.
    ///   - onProgress: Called after each batch with the number of looked-up editions.
    /// - Throws: `PostgresError`, or the error of `beforeBatch`.
    package func run(
        _ sources: SourceChain, limit: Int, beforeBatch: () throws -> Void,
        onProgress: (Int) -> Void
    ) async throws -> LookupProgress {
        try await .ofBatches(
            limit: limit, next: next, beforeBatch: beforeBatch, onProgress: onProgress
        ) { editions in
            try save(await Self.lookUp(editions, sources), of: editions)
        }
    }

    /// Returns the next editions.
    private func next(_ count: Int) throws(PostgresError) -> [Edition] {
        var parameters = Parameters()
        parameters.append(int32: Int32(clamping: count))
        return try connection.query(
            """
            SELECT e.id, e.isbn13
            FROM editions e
            WHERE \(Self.isDue)
            ORDER BY e.popularity DESC, e.id
            LIMIT $1
            """, parameters
        ).decode()
    }

    /// An incomplete edition.
    private struct Edition: Sendable, RowDecodable {
        let id: UUID
        let isbn: ISBN

        init?(_ row: inout RowReader) {
            guard let id = row.uuid(), let isbn = row.text().flatMap({ ISBN($0) }) else {
                return nil
            }
            self.id = id
            self.isbn = isbn
        }
    }

    /// Looks up the editions at the sources concurrently.
    private static func lookUp(
        _ editions: [Edition], _ sources: SourceChain
    ) async -> [SourceChain.Lookup] {
        await withTaskGroup(of: (Int, SourceChain.Lookup).self) { group in
            for (index, edition) in editions.enumerated() {
                group.addTask {
                    let lookup = await sources.edition(
                        BookNumber(edition.isbn), within: budget, priority: .background)
                    return (index, lookup)
                }
            }
            var lookups = [SourceChain.Lookup](repeating: .init(), count: editions.count)
            for await (index, lookup) in group { lookups[index] = lookup }
            return lookups
        }
    }

    /// Saves the results and the time of the lookups.
    ///
    /// Waits for imports of the catalog and decisions about works: they lock the same editions and the job that links books in another
    /// order, and neither transaction would match its new records with those of the other.
    private func save(
        _ lookups: [SourceChain.Lookup], of editions: [Edition]
    ) throws(PostgresError) -> LookupProgress {
        var progress = LookupProgress()
        try connection.execute("BEGIN")
        do throws(PostgresError) {
            try connection.execute("SELECT lock_catalog()")
            var found: [EditionFacts] = []
            for (edition, lookup) in zip(editions, lookups) {
                if let facts = lookup.record.flatMap({ EditionFacts($0, isbn: edition.isbn) }) {
                    let isSaved = try connection.query(
                        EditionFacts.save.statement.text, facts.parameters
                    ).decode(Bool.self)
                    guard isSaved.first == true else {
                        // A request has locked it for a moment. It stays due, and later ones are saved.
                        try connection.execute("SELECT set_config('app.catalog_locked', '', true)")
                        progress.unavailable += 1
                        continue
                    }
                    found.append(facts)
                    progress.found += 1
                } else if !lookup.failures.isEmpty {
                    progress.unavailable += 1
                    continue
                }
                progress.lookedUp += 1
                try connection.query(
                    "UPDATE editions SET sources_requested_at = now() WHERE id = $1",
                    .of(edition.id))
            }
            if let authors = EditionFacts.authorParameters(of: found) {
                try connection.query(EditionFacts.saveAuthors.text, authors)
            }
            try connection.execute("COMMIT")
        } catch {
            try? connection.execute("ROLLBACK")
            throw error
        }
        return progress
    }

    private static let isDue = """
        e.isbn13 IS NOT NULL
            AND (
                e.description IS NULL
                OR e.page_count IS NULL
                OR e.authors = '{}'
                OR e.publisher IS NULL
                OR e.published_date IS NULL
                OR e.cover_links = '{}'
            )
            AND (e.sources_requested_at IS NULL OR e.sources_requested_at < now() - interval '\(pause)')
        """
}
