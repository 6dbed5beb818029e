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
        /// The queues with books of a genre, for the genres that were requested.
        var queues: [Int16: [Int16]] = [:]
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

    /// A loose index scan: one lookup for each queue, however many books it contains. It includes queues of earlier versions
    /// of the order.
    private static let selectQueues = TypedStatement<Queue>(
        """
        WITH RECURSIVE found AS (
            SELECT g.id AS genre_id, \(nextQueue("g.id", after: "-1")) AS id
            FROM unnest($1::int2[]) g (id)
            UNION ALL
            SELECT f.genre_id, \(nextQueue("f.genre_id", after: "f.id"))
            FROM found f
            WHERE f.id IS NOT NULL
        )
        SELECT genre_id, id
        FROM found
        WHERE id IS NOT NULL
        """)

    private static func nextQueue(_ genre: String, after id: String) -> String {
        func least(_ table: String) -> String {
            """
            (
                SELECT min(o.primary_id)
                FROM \(table) o
                WHERE o.genre_id = \(genre) AND o.primary_id > \(id)
            )
            """
        }
        return "least(\(least("feed_order")), \(least("feed_order_before")))"
    }

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

    /// A queue that contains books of a genre.
    private struct Queue: RowDecodable {
        let genre: Int16
        let id: Int16

        init?(_ row: inout RowReader) {
            guard let genre = row.int32(), let id = row.int32() else { return nil }
            self.genre = Int16(truncatingIfNeeded: genre)
            self.id = Int16(truncatingIfNeeded: id)
        }
    }

    package init() {}

    /// Returns the IDs of all genres.
    func ids(for request: RequestContext) async throws(BookplateError) -> [Int16] {
        try await current(for: request).genres.map(\.id)
    }

    /// Returns the IDs of the genres with the names or aliases, without unknown names.
    func known(_ names: [String], for request: RequestContext) async throws(BookplateError)
        -> [Int16]
    {
        let found = try await find(names, for: request)
        return names.compactMap { found[$0]?.id }
    }

    /// Returns the IDs of the genres with the names or aliases, those with the most readers first.
    ///
    /// - Throws: `.badUserInput` for an unknown name, and for more than `filterMax` names.
    func ids(
        named names: [String], field: String = "genres", for request: RequestContext
    ) async throws(BookplateError) -> [Int16] {
        let requested = Set(
            try await genres(named: names, field: field, for: request).map(\.id))
        return try await ids(for: request).filter(requested.contains)
    }

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

    /// Returns the queues that contain books of these genres. A queue contains the books with the same first genre.
    func queues(of genres: [Int16], for request: RequestContext) async throws(BookplateError)
        -> Set<Int16>
    {
        var queues = try await current(for: request).queues
        let unknown = genres.filter { queues[$0] == nil }
        if !unknown.isEmpty {
            let found: [Queue] = try await request.read { pipeline, _ in
                var parameters = Parameters()
                parameters.append(int32s: unknown.map(Int32.init))
                return pipeline.append(Self.selectQueues, parameters)
            }
            for genre in unknown { queues[genre] = [] }
            for queue in found { queues[queue.genre]?.append(queue.id) }
            table.withLock { [queues] in $0?.queues.merge(queues) { $1 } }
        }
        return Set(genres.flatMap { queues[$0] ?? [] })
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
