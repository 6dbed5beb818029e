import GraphQL
import Postgres

/// A root field that returns at most one row: `me`, `book(id:)`.
///
/// The rows of its relations that are found by the same id come in the same statement (`UnionStatement`). Other list
/// fields below it start in the same round trip, with a `PlaceholderRow` as their parent (a speculative load).
///
/// Example, with one round trip for both levels:
///
///     { shelf(id: "s1") { name books(first: 2) { nodes { title } } } }
///
/// `shelf` starts its statement and returns a placeholder that knows only the id `s1`. `books` needs nothing else of its
/// parent, so its statement joins the same pipeline. After the flush, the placeholder is replaced by the row: if the
/// shelf does not exist, the field is null and the page of books is discarded.
package struct RowLookup: FieldLoader {
    let type: RowType
    /// The argument that contains the id; nil if the id is the caller's.
    let argument: String?

    /// Looks up the row whose id is the caller's.
    package static func caller(_ type: RowType) -> RowLookup {
        RowLookup(type: type, argument: nil)
    }

    /// Looks up the row by the id in an argument. The field is null if the argument is not a UUID.
    package static func byID(_ type: RowType, argument: String = "id") -> RowLookup {
        RowLookup(type: type, argument: argument)
    }

    package func prepare(_ field: SelectedField) -> any PreparedLoad {
        let selection = field.selections[0]
        var statement = UnionStatement()
        let layout = statement.add(
            type, selection, from: "\(type.table) WHERE \(type.scope) AND \(type.id.sql) = $2")
        let relations = UnionRelations(of: type, selection, in: &statement)
        return Prepared(
            lookup: self, layout: layout, relations: relations, statement: Statement(statement.sql))
    }

    private struct Prepared: RowLoad {
        let lookup: RowLookup
        let layout: RowLayout
        let relations: UnionRelations
        let statement: Statement

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: any RowContext
        ) throws -> Load {
            let userID = try request.callerID()
            let id = lookup.argument.map { arguments[$0]?.string.flatMap { UUID($0) } } ?? userID
            guard let id else { return .ready(.null(parents.count)) }
            let pending = request.pending(statement, .of(userID, id))
            return .speculative(placeholder: PlaceholderRow(lookup.type.id, id)) { parents in
                request.children(of: parents) {
                    let row = relations.split(try pending.rows()).row(layout)
                    return Children(
                        slots: [row.count > 0 ? .object(group: 0, index: 0) : .null],
                        groups: [.init(row)])
                }
            }
        }
    }
}
