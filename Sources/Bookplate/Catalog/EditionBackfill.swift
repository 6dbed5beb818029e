import BookSources
import Postgres

/// Fills what the catalogue does not know of its editions from the outside sources, the popular first.
///
/// Each edition remembers when it was asked for, in the transaction that saves what was found: stopped anywhere,
/// it goes on with the next one.
package struct EditionBackfill {
    package struct Progress: Sendable, Equatable {
        /// Editions that the sources were asked for.
        package var asked = 0
        /// Of these, those that a source knows.
        package var found = 0
        /// Those that no source could be asked for; they are asked for again.
        package var unavailable = 0

        package init() {}
    }

    /// Not asked for again so soon, whatever is missing still.
    private static let pause = "30 days"
    /// Nobody waits: the sources' own pace decides.
    private static let budget = Duration.seconds(30)
    /// Editions asked for at once.
    package static let batchMax = 8

    private let connection: AdminConnection

    package init(_ connection: AdminConnection) { self.connection = connection }

    /// How many editions lack something and are due.
    package func remaining() throws(PostgresError) -> Int {
        Int(
            try connection.query("SELECT count(*) FROM editions e WHERE \(Self.isDue)")
                .int64(0, 0) ?? 0)
    }

    /// The next editions.
    package func next(_ count: Int) throws(PostgresError) -> [Edition] {
        var parameters = Parameters()
        parameters.append(int32: Int32(clamping: count))
        let rows = try connection.query(
            """
            SELECT e.id, e.isbn13 FROM editions e WHERE \(Self.isDue) \
            ORDER BY e.popularity DESC, e.id LIMIT $1
            """, parameters)
        return (0..<rows.count).compactMap { row in
            guard let id = rows.uuid(row, 0), let isbn = rows.text(row, 1).flatMap({ ISBN($0) })
            else { return nil }
            return Edition(id: id, isbn: isbn)
        }
    }

    /// An edition to be asked for.
    package struct Edition: Sendable {
        let id: UUID
        let isbn: ISBN
    }

    /// Asks the sources for the editions.
    package static func ask(
        _ editions: [Edition], _ sources: SourceChain
    ) async -> [SourceChain.Lookup] {
        await withTaskGroup(of: (Int, SourceChain.Lookup).self) { group in
            for (place, edition) in editions.enumerated() {
                group.addTask {
                    let lookup = await sources.edition(
                        BookNumber(edition.isbn), within: budget, priority: .background)
                    return (place, lookup)
                }
            }
            var lookups = [SourceChain.Lookup](repeating: .init(), count: editions.count)
            for await (place, lookup) in group { lookups[place] = lookup }
            return lookups
        }
    }

    /// Saves what the sources said, and that they were asked.
    package func save(
        _ lookups: [SourceChain.Lookup], of editions: [Edition]
    ) throws(PostgresError) -> Progress {
        var progress = Progress()
        try connection.execute("BEGIN")
        do throws(PostgresError) {
            for (edition, lookup) in zip(editions, lookups) {
                if let facts = lookup.record.flatMap({ EditionFacts($0, isbn: edition.isbn) }) {
                    try connection.query(EditionFacts.save.text, facts.parameters)
                    progress.found += 1
                } else if !lookup.failures.isEmpty {
                    progress.unavailable += 1
                    continue
                }
                progress.asked += 1
                try connection.query(
                    "UPDATE editions SET sources_asked_at = now() WHERE id = $1", .of(edition.id))
            }
            try connection.execute("COMMIT")
        } catch {
            try? connection.execute("ROLLBACK")
            throw error
        }
        return progress
    }

    private static let isDue = """
        e.isbn13 IS NOT NULL AND (e.description IS NULL OR e.page_count IS NULL OR e.authors = '{}' \
        OR e.publisher IS NULL OR e.published_date IS NULL OR e.cover_links = '{}') \
        AND (e.sources_asked_at IS NULL OR e.sources_asked_at < now() - interval '\(pause)')
        """
}
