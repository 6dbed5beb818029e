import GraphQL
import Postgres
import Synchronization

/// The catalogue's genres, those with the most readers first. They change with imports only, so
/// they are kept for a minute.
package final class Genres: Sendable {
    private struct Table {
        var ids: [Int16]
        var idsByName: [String: Int16]
        var expiresAt: ContinuousClock.Instant
    }

    private let table = Mutex<Table?>(nil)
    private static let lifetime = Duration.seconds(60)
    /// Genres that a feed may be asked for at once.
    static let filterMax = 100
    private static let select = Statement("SELECT id, name FROM genres ORDER BY readers DESC, id")

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
            let answer = request.ask(GenreNames.select, Parameters())
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
