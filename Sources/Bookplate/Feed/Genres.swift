import GraphQL
import Postgres
import Synchronization

/// The catalogue's genres, those with the most readers first. They change with imports only, so
/// they are kept for a minute; a book whose genres nobody had before waits so long for its feeds.
package final class Genres: Sendable {
    private struct Table {
        var ids: [Int16]
        var idsByName: [String: Int16]
        /// The queues with books of a genre, as far as they were asked for.
        var queues: [Int16: [Int16]] = [:]
        var expiresAt: ContinuousClock.Instant
    }

    private let table = Mutex<Table?>(nil)
    private static let lifetime = Duration.seconds(60)
    /// Genres that a feed may be asked for at once.
    static let filterMax = 100
    private static let select = Statement("SELECT id, name FROM genres ORDER BY readers DESC, id")

    /// A step for each queue, whatever is in it or was in an order that is kept.
    private static let selectQueues = Statement(
        """
        WITH RECURSIVE found AS (\
        SELECT g.id AS genre_id, \(nextQueue("g.id", behind: "-1")) AS id FROM unnest($1::int2[]) g (id) UNION ALL \
        SELECT f.genre_id, \(nextQueue("f.genre_id", behind: "f.id")) FROM found f WHERE f.id IS NOT NULL) \
        SELECT genre_id, id FROM found WHERE id IS NOT NULL
        """)

    private static func nextQueue(_ genre: String, behind id: String) -> String {
        func least(_ table: String) -> String {
            "(SELECT min(o.primary_id) FROM \(table) o WHERE o.genre_id = \(genre) AND o.primary_id > \(id))"
        }
        return "least(\(least("feed_order")), \(least("feed_order_before")))"
    }

    package init() {}

    /// Ids of all genres.
    func ids(for request: RequestContext) async throws(BookplateError) -> [Int16] {
        try await current(for: request).ids
    }

    /// Ids of those of the named genres that the catalogue has.
    func known(_ names: [String], for request: RequestContext) async throws(BookplateError)
        -> [Int16]
    {
        let table = try await current(for: request)
        return names.compactMap { table.idsByName[$0] }
    }

    /// Ids of the named genres.
    ///
    /// - Throws: `.badUserInput` for a genre that the catalogue does not have.
    func ids(
        named names: [String], field: String = "genres", for request: RequestContext
    ) async throws(BookplateError) -> [Int16] {
        let table = try await current(for: request)
        guard names.count <= Self.filterMax else {
            throw .badUserInput(field: field, "At most \(Self.filterMax) genres at once.")
        }
        var wanted: Set<Int16> = []
        for name in names {
            guard let id = table.idsByName[name] else {
                throw .badUserInput(
                    field: field, "There is no genre “\(name.prefix(100))”. See Query.genres.")
            }
            wanted.insert(id)
        }
        return table.ids.filter(wanted.contains)
    }

    /// The queues with books of these genres: those that have one of them as their first.
    func queues(of genres: [Int16], for request: RequestContext) async throws(BookplateError)
        -> Set<Int16>
    {
        var queues = try await current(for: request).queues
        let unknown = genres.filter { queues[$0] == nil }
        if !unknown.isEmpty {
            let rows = try await request.read { segment, _ in
                var parameters = Parameters()
                parameters.append(int32s: unknown.map(Int32.init))
                segment.append(Self.selectQueues, parameters)
            }[0]
            for genre in unknown { queues[genre] = [] }
            for row in 0..<rows.count {
                guard let genre = rows.int32(row, 0), let id = rows.int32(row, 1) else { continue }
                queues[Int16(truncatingIfNeeded: genre)]?.append(Int16(truncatingIfNeeded: id))
            }
            table.withLock { [queues] in $0?.queues.merge(queues) { $1 } }
        }
        return Set(genres.flatMap { queues[$0] ?? [] })
    }

    private func current(for request: RequestContext) async throws(BookplateError) -> Table {
        let now = ContinuousClock.now
        if let table = table.withLock({ $0 }), now < table.expiresAt { return table }
        let rows = try await request.read { segment, _ in segment.append(Self.select) }[0]
        var fresh = Table(ids: [], idsByName: [:], expiresAt: now + Self.lifetime)
        for row in 0..<rows.count {
            guard let id = rows.int32(row, 0).flatMap({ Int16(exactly: $0) }),
                let name = rows.text(row, 1)
            else { continue }
            fresh.ids.append(id)
            fresh.idsByName[name] = id
        }
        table.withLock { [fresh] in $0 = fresh }
        return fresh
    }
}

/// `Query.genres`.
struct GenreNames: FieldLoader {
    private static let select = Statement(
        "SELECT name FROM genres WHERE readers > 0 ORDER BY readers DESC, id")

    func prepare(_ field: SelectedField) -> any PreparedLoad { Prepared() }

    private struct Prepared: RequestLoad {
        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: RequestContext
        ) throws(BookplateError) -> Load {
            _ = try request.caller()
            let answer = request.query(GenreNames.select, Parameters())
            return .afterFlush { parents in
                request.children(of: parents) { () throws(BookplateError) in
                    let rows = try answer.rows()
                    let names = (0..<rows.count).map { Value.string(rows.text($0, 0) ?? "") }
                    return .each(of: LeafBatch([.list(names)]))
                }
            }
        }
    }
}
