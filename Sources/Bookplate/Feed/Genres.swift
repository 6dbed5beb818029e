import GraphQL
import Postgres
import Synchronization

/// A cache of the catalog's genres, those with the most readers first. They change only with imports, so they are cached
/// for one minute. Books of a new genre appear in feeds after that time.
package final class Genres: Sendable {
    private struct Table {
        var ids: [Int16]
        var idsByName: [String: Int16]
        var expiresAt: ContinuousClock.Instant
    }

    private let table = Mutex<Table?>(nil)
    private static let lifetime = Duration.seconds(60)
    /// The maximum number of genres in the filter of a feed.
    static let filterMax = 100
    private static let select = TypedStatement<Genre>(
        "SELECT id, name FROM genres ORDER BY readers DESC, id")

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

    package init() {}

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
