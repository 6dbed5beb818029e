import BookSources
import Bookplate
import Postgres

/// Fetches the biographies of the catalog's authors, those of the most popular books first: `bookplate-admin backfill authors`.
///
/// The transaction that saves the result of an author also records the time of the lookup. An interrupted run therefore
/// continues with the next author.
package struct AuthorBackfill {
    /// The minimum time between two lookups of an author.
    private static let pause = "90 days"
    /// The maximum time of a lookup. It is long because no request waits for the result.
    private static let budget = Duration.seconds(60)

    private let connection: AdminConnection

    package init(_ connection: AdminConnection) { self.connection = connection }

    /// Returns the number of authors whose lookup is due.
    package func remaining() throws(PostgresError) -> Int {
        let counts = try connection.query("SELECT count(DISTINCT given.id) FROM \(Self.due)")
            .decode(Int64.self)
        return Int(counts.first ?? 0)
    }

    /// Looks up the authors that are due and saves the results. Ends early if no source answers any lookup of a batch.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of authors.
    ///   - beforeBatch: Called before each batch. An error that it throws ends the run.
    ///   - onProgress: Called after each batch with the number of looked-up authors.
    /// - Throws: `PostgresError`, or the error of `beforeBatch`.
    package func run(
        _ sources: SourceChain, limit: Int, beforeBatch: () throws -> Void,
        onProgress: (Int) -> Void
    ) async throws -> LookupProgress {
        try await .ofBatches(
            limit: limit, next: next, beforeBatch: beforeBatch, onProgress: onProgress
        ) { authors in
            try save(await Self.lookUp(authors, sources), of: authors)
        }
    }

    /// An author without a biography. Open Library's record is found by its key or, if the catalog does not know it, by an
    /// edition of the author.
    private struct DueAuthor: Sendable, RowDecodable {
        let id: UUID
        let name: String
        let query: AuthorQuery

        init?(_ row: inout RowReader) {
            guard let id = row.uuid(), let name = row.text() else { return nil }
            self.id = id
            self.name = name
            let key = row.text()
            let isbn = row.text().flatMap { ISBN($0) }
            guard
                let query = key.map({ AuthorQuery.key($0) })
                    ?? isbn.map({ .edition(BookNumber($0)) })
            else { return nil }
            self.query = query
        }
    }

    /// Returns the next authors, each with an ISBN of the most popular edition.
    private func next(_ count: Int) throws(PostgresError) -> [DueAuthor] {
        var parameters = Parameters()
        parameters.append(int32: Int32(clamping: count))
        // A popular author appears many times among the first editions.
        return try connection.query(
            """
            SELECT id, name, open_library_key, isbn13
            FROM (
                SELECT DISTINCT ON (id) *
                FROM (
                    SELECT given.id, given.name, given.position, a.open_library_key, e.isbn13, e.popularity,
                        e.id AS edition_id
                    FROM \(Self.due)
                    ORDER BY e.popularity DESC, e.id, given.position
                    LIMIT 20 * $1
                ) popular
                ORDER BY id, popularity DESC, edition_id, position
            ) authors
            ORDER BY popularity DESC, edition_id, position
            LIMIT $1
            """, parameters
        ).decode()
    }

    /// Looks up the authors concurrently. The result is nil for those for which no source could answer.
    private static func lookUp(
        _ authors: [DueAuthor], _ sources: SourceChain
    ) async -> [[AuthorRecord]?] {
        await withTaskGroup(of: (Int, [AuthorRecord]?).self) { group in
            for (index, author) in authors.enumerated() {
                group.addTask {
                    let records = await sources.authors(author.query, within: budget)
                    return (index, records)
                }
            }
            var lookups = [[AuthorRecord]?](repeating: nil, count: authors.count)
            for await (index, records) in group { lookups[index] = records }
            return lookups
        }
    }

    /// Saves the results, the time of the lookups, and what the records of the same editions say about other authors.
    ///
    /// Waits for imports of the catalog, because they lock the same authors in another order.
    private func save(
        _ lookups: [[AuthorRecord]?], of authors: [DueAuthor]
    ) throws(PostgresError) -> LookupProgress {
        var progress = LookupProgress()
        try connection.execute("BEGIN")
        do throws(PostgresError) {
            try connection.execute("SELECT lock_catalog()")
            for (author, lookup) in zip(authors, lookups) {
                guard let records = lookup else {
                    progress.unavailable += 1
                    continue
                }
                let facts = AuthorFacts(records)
                try connection.query(EditionFacts.saveAuthors.text, facts.parameters)
                var parameters = Parameters.of(author.id)
                parameters.append(text: author.name)
                facts.append(to: &parameters)
                progress.lookedUp += 1
                if try connection.query(Self.saveLookup, parameters).decode(Bool.self).first == true
                {
                    progress.found += 1
                }
            }
            try connection.execute("COMMIT")
        } catch {
            try? connection.execute("ROLLBACK")
            throw error
        }
        return progress
    }

    private static let saveLookup = "SELECT save_author_lookup($1, $2, $3, $4, $5)"

    /// The authors of each edition that are due.
    private static let due = """
        editions e
        CROSS JOIN LATERAL unnest(e.author_ids, e.authors) WITH ORDINALITY AS given (id, name, position)
        LEFT JOIN authors a ON a.id = given.id
        WHERE a.bio IS NULL
            AND (a.bio_requested_at IS NULL OR a.bio_requested_at < now() - interval '\(pause)')
            AND (
                a.open_library_key IS NOT NULL
                -- The record of an edition has no keys of translators and others.
                OR (e.isbn13 IS NOT NULL AND coalesce(e.author_roles[given.position], 'AUTHOR') = 'AUTHOR')
            )
            AND char_length(given.name) <= 500
        """
}
