import GraphQL
import Postgres
import Synchronization

/// A cache of the canonical genres, those with the most readers first. Their order changes only with imports, so they are
/// cached for one minute.
///
/// Requests may name a genre by an alias, and case does not matter: "sci-fi" is "Science Fiction". The names that
/// `Query.genres` returns are found in the cache; the database looks up other names.
package final class Genres: Sendable {
    private struct Table {
        var genres: [Genre]
        var genresByName: [String: Genre]
        var expiresAt: ContinuousClock.Instant
    }

    private let table = Mutex<Table?>(nil)
    private static let lifetime = Duration.seconds(60)
    /// The maximum number of genres in the filter of a feed.
    static let filterMax = 100
    private static let select = TypedStatement<Genre>(
        "SELECT id, name FROM genres ORDER BY readers DESC, id")
    /// The genres that have these names as aliases, with the name.
    private static let selectByAlias = TypedStatement<Alias>(
        """
        SELECT named.name, g.id, g.name
        FROM unnest($1::text[]) AS named (name)
        JOIN genre_aliases a ON a.alias = search_fold(named.name)
        JOIN genres g ON g.id = a.genre_id
        """)

    struct Genre: RowDecodable, Equatable {
        let id: Int16
        let name: String

        init?(_ row: inout RowReader) {
            guard let id = row.int32().flatMap({ Int16(exactly: $0) }), let name = row.text() else {
                return nil
            }
            self.id = id
            self.name = name
        }
    }

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
            throw .badUserInput(field: field, "At most \(Self.filterMax) genres are allowed.")
        }
        let found = try await find(names, for: request)
        var genres: [Genre] = []
        for name in names {
            guard let genre = found[name] else {
                throw .badUserInput(
                    field: field, "There is no genre “\(name.prefix(100))”. See Query.genres.")
            }
            if !genres.contains(genre) { genres.append(genre) }
        }
        return genres
    }

    /// Returns the genres by the names that are known.
    private func find(
        _ names: [String], for request: RequestContext
    ) async throws(BookplateError) -> [String: Genre] {
        var found = try await current(for: request).genresByName
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

    private func current(for request: RequestContext) async throws(BookplateError) -> Table {
        let now = ContinuousClock.now
        if let table = table.withLock({ $0 }), now < table.expiresAt { return table }
        let genres = try await request.read { pipeline, _ in
            pipeline.append(Self.select)
        }
        let newTable = Table(
            genres: genres,
            genresByName: Dictionary(genres.map { ($0.name, $0) }) { first, _ in first },
            expiresAt: now + Self.lifetime)
        table.withLock { $0 = newTable }
        return newTable
    }
}

/// The field `Query.genres`.
struct GenreNames: FieldLoader {
    private static let select = TypedStatement<String>(
        "SELECT name FROM genres WHERE editions > 0 ORDER BY readers DESC, id")

    func prepare(_ field: SelectedField) -> any PreparedLoad { Prepared() }

    private struct Prepared: RequestLoad {
        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: RequestContext
        ) throws(BookplateError) -> Load {
            _ = try request.caller()
            let pending = request.query(GenreNames.select.statement, Parameters())
            return .afterFlush { parents in
                request.children(of: parents) { () throws(BookplateError) in
                    let names = try pending.rows().decode(String.self).map { Value.string($0) }
                    return .each(of: LeafBatch([.list(names)]))
                }
            }
        }
    }
}
