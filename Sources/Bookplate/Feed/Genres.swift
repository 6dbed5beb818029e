import GraphQL
import Postgres
import Synchronization

/// A cache of the catalog's genres, those with the most readers first. They change only with imports, so they are cached
/// for one minute. Books of a new genre appear in feeds after that time.
package final class Genres: Sendable {
    private struct Table {
        var ids: [Int16]
        var idsByName: [String: Int16]
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

    private struct Genre: RowDecodable {
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
        try await current(for: request).ids
    }

    /// Returns the IDs of the genres with the names, without names that the catalog does not contain.
    func known(_ names: [String], for request: RequestContext) async throws(BookplateError)
        -> [Int16]
    {
        let table = try await current(for: request)
        return names.compactMap { table.idsByName[$0] }
    }

    /// Returns the IDs of the genres with the names.
    ///
    /// - Throws: `.badUserInput` for a genre that the catalog does not contain.
    func ids(
        named names: [String], field: String = "genres", for request: RequestContext
    ) async throws(BookplateError) -> [Int16] {
        let table = try await current(for: request)
        guard names.count <= Self.filterMax else {
            throw .badUserInput(field: field, "At most \(Self.filterMax) genres are allowed.")
        }
        var requested: Set<Int16> = []
        for name in names {
            guard let id = table.idsByName[name] else {
                throw .badUserInput(
                    field: field, "There is no genre “\(name.prefix(100))”. See Query.genres.")
            }
            requested.insert(id)
        }
        return table.ids.filter(requested.contains)
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
        let genres: [Genre] = try await request.read { pipeline, _ in
            pipeline.append(Self.select)
        }
        var newTable = Table(ids: [], idsByName: [:], expiresAt: now + Self.lifetime)
        for genre in genres {
            newTable.ids.append(genre.id)
            newTable.idsByName[genre.name] = genre.id
        }
        table.withLock { [newTable] in $0 = newTable }
        return newTable
    }
}

/// The field `Query.genres`.
struct GenreNames: FieldLoader {
    private static let select = TypedStatement<String>(
        "SELECT name FROM genres WHERE readers > 0 ORDER BY readers DESC, id")

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
