import GraphQL
import GraphQLPostgres
import Postgres
import Requests

/// A canonical genre of the catalog.
struct Genre: RowDecodable {
    /// The id in the database.
    let number: Int16
    /// The id in the schema.
    let slug: String
    let name: String
    /// The number of editions with this genre, as of the last count.
    let bookCount: Int

    init?(_ row: inout RowReader) {
        guard let number = row.int32().flatMap({ Int16(exactly: $0) }), let slug = row.text(),
            let name = row.text(), let bookCount = row.int32()
        else { return nil }
        self.number = number
        self.slug = slug
        self.name = name
        self.bookCount = Int(bookCount)
    }
}

/// Genres as objects of the schema.
private final class GenreBatch: ObjectBatch {
    private let genres: [Genre]
    private let selection: PlannedSelection

    init(_ genres: [Genre], _ selection: PlannedSelection) {
        self.genres = genres
        self.selection = selection
    }

    var count: Int { genres.count }

    func write(field: Int, of object: Int, to writer: inout ResponseWriter) -> LeafResult {
        let genre = genres[object]
        switch selection.fields[field].selected.name {
        case "id": writer.write(genre.slug)
        case "name": writer.write(genre.name)
        case "bookCount": writer.write(genre.bookCount)
        default: return .null
        }
        return .value
    }
}

/// The field `Query.genres`.
struct GenreList: FieldLoader {
    func prepare(_ field: SelectedField) -> any PreparedLoad {
        Prepared(selection: field.selections[0])
    }

    private struct Prepared: RequestLoad {
        let selection: PlannedSelection

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: RequestContext
        ) throws(BookplateError) -> Load {
            _ = try request.caller()
            let pending = Genres.query(in: request)
            return .afterFlush { parents in
                request.children(of: parents) { () throws(BookplateError) in
                    let table = request.services.genres.store(try pending.rows())
                    let genres = table.genres.filter { $0.bookCount > 0 }
                    return .list(of: GenreBatch(genres, selection))
                }
            }
        }
    }
}

/// A field with the genres whose names are in a column of the parent, or with the first of them: `FeedCard.genres`,
/// `User.preferredGenres`.
///
/// The genres come from the server's cache. About once per minute, a request fills it with one statement.
struct NamedGenres: RowLoader {
    private let names: Column
    private let shape: RowRelation.Shape

    /// - Parameter names: A text array.
    init(_ names: Column, shape: RowRelation.Shape = .many) {
        self.names = names
        self.shape = shape
    }

    var parentColumns: [Column] { [names] }

    func prepare(_ field: SelectedField) -> any PreparedLoad {
        Prepared(names: names, shape: shape, selection: field.selections[0])
    }

    private struct Prepared: RequestLoad {
        let names: Column
        let shape: RowRelation.Shape
        let selection: PlannedSelection

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: RequestContext
        ) throws(BookplateError) -> Load {
            guard let rows = parents as? RowBatch else { return .needsParents }
            if let table = request.services.genres.cached() ?? (hasNames(rows) ? nil : .empty) {
                return .ready(children(of: rows, in: table))
            }
            let pending = Genres.query(in: request)
            return .afterFlush { parents in
                request.children(of: parents) { () throws(BookplateError) in
                    guard let rows = parents as? RowBatch else { throw .internalError }
                    return children(of: rows, in: request.services.genres.store(try pending.rows()))
                }
            }
        }

        private func hasNames(_ rows: RowBatch) -> Bool {
            (0..<rows.count).contains { object in
                // Visiting an element ends the visit.
                rows.cell(names, of: object)?.forEachArrayElement { _ in false } == false
            }
        }

        /// Returns a list of genres, or the first one, for each row. The lists share the objects of one batch.
        private func children(of rows: RowBatch, in table: Genres.Table) -> Children {
            var slots: [Slot] = []
            var items: [Slot] = []
            for object in 0..<rows.count {
                let start = items.count
                _ = rows.cell(names, of: object)?.forEachArrayElement { name in
                    let index = name.flatMap { table.index(ofName: $0) }
                    if let index { items.append(.object(group: 0, index: Int32(index))) }
                    return true
                }
                switch shape {
                case .one:
                    slots.append(items.count > start ? items[start] : .null)
                case .many:
                    slots.append(
                        .list(
                            start: Int32(rows.count + start), count: Int32(items.count - start)))
                }
            }
            if shape == .one { items = [] }
            return Children(
                slots: slots + items, groups: [.init(GenreBatch(table.genres, selection))])
        }
    }
}
