import Postgres
import Requests
import Synchronization

/// A cache of the canonical genres, those with the most readers first. It is valid for one minute, because the numbers of
/// books and the order change only with imports.
///
/// Requests may name a genre by its id, its name, or an alias, and case does not matter: "sci-fi" is "Science Fiction". The
/// ids and names that `Query.genres` returns are found in the cache; the database looks up others.
package final class Genres: Sendable {
    /// The genres at one time.
    struct Table {
        static let empty = Table([])

        let genres: [Genre]
        /// The indices in `genres` by slug and by name.
        private let indices: [String: Int]

        fileprivate init(_ genres: [Genre]) {
            self.genres = genres
            var indices: [String: Int] = [:]
            for (index, genre) in genres.enumerated() {
                indices[genre.slug] = index
                indices[genre.name] = index
            }
            self.indices = indices
        }

        func index(ofName name: UnsafeRawBufferPointer) -> Int? {
            indices[String(decoding: name, as: UTF8.self)]
        }

        /// Returns the genre with a slug or a name.
        func genre(named name: String) -> Genre? { indices[name].map { genres[$0] } }
    }

    private let cache = Mutex<(table: Table, expiresAt: ContinuousClock.Instant)?>(nil)
    private static let lifetime = Duration.seconds(60)
    /// The maximum number of genres in the filter of a feed.
    static let filterMax = 100
    private static let select = TypedStatement<Genre>(
        "SELECT id, slug, name, editions FROM genres ORDER BY readers DESC, id")
    /// The genres that have these names as aliases, with the name.
    private static let selectByAlias = TypedStatement<Alias>(
        """
        SELECT named.name, g.id, g.slug, g.name, g.editions
        FROM unnest($1::text[]) AS named (name)
        JOIN genre_aliases a ON a.alias = search_fold(named.name)
        JOIN genres g ON g.id = a.genre_id
        """)

    private struct Alias: RowDecodable {
        let alias: String
        let genre: Genre

        init?(_ row: inout RowReader) {
            guard let alias = row.text(), let genre = Genre(&row) else { return nil }
            self.alias = alias
            self.genre = genre
        }
    }

    package init() {}

    /// Returns the genres with the names or aliases, in the order of the names and without duplicates.
    ///
    /// - Throws: `.badUserInput` for an unknown name, and for more than `filterMax` names.
    func genres(
        named names: [String], field: String, for request: RequestContext
    ) async throws(BookplateError) -> [Genre] {
        guard names.count <= Self.filterMax else {
            throw .badUserInput(field: field, .init(.tooMany, max: Self.filterMax))
        }
        let found = try await find(names, for: request)
        var genres: [Genre] = []
        for name in names {
            guard let genre = found[name] else {
                throw .badUserInput(
                    field: field, .init(.unknownGenre, value: String(name.prefix(100))))
            }
            if !genres.contains(where: { $0.number == genre.number }) { genres.append(genre) }
        }
        return genres
    }

    /// Returns the genres by the names that are known.
    private func find(
        _ names: [String], for request: RequestContext
    ) async throws(BookplateError) -> [String: Genre] {
        let table = try await current(for: request)
        var found: [String: Genre] = [:]
        for name in names { found[name] = table.genre(named: name) }
        // PostgreSQL's texts cannot contain NUL characters.
        let others = names.filter { found[$0] == nil && !$0.unicodeScalars.contains("\0") }
        if !others.isEmpty {
            let aliases = try await request.read { pipeline, _ in
                var parameters = Parameters()
                parameters.append(texts: others)
                return pipeline.append(Self.selectByAlias, parameters)
            }
            for alias in aliases { found[alias.alias] = alias.genre }
        }
        return found
    }

    // MARK: - Cache

    private func current(for request: RequestContext) async throws(BookplateError) -> Table {
        if let table = cached() { return table }
        let (results, rows) = try await request.read { pipeline, _ in
            pipeline.appendForRows(Self.select.statement, Parameters())
        }
        return store(results[rows])
    }

    /// Returns the cached genres; nil if they are outdated.
    func cached() -> Table? {
        guard let entry = cache.withLock({ $0 }), ContinuousClock.now < entry.expiresAt else {
            return nil
        }
        return entry.table
    }

    /// Adds the statement that reads the genres to the current level of an execution.
    static func query(in request: RequestContext) -> RequestContext.PendingRows {
        request.query(select.statement, Parameters())
    }

    /// Caches the rows that `query` has returned.
    func store(_ rows: Rows) -> Table {
        let table = Table(rows.decode(Genre.self))
        cache.withLock { $0 = (table, ContinuousClock.now + Self.lifetime) }
        return table
    }
}
