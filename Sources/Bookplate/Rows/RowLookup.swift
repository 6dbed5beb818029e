import GraphQL
import Postgres

/// One row, or none, for a field of the root: `me`, `book(id:)`.
struct RowLookup: FieldLoader {
    let type: RowType
    /// The argument that names the row; nil for the caller's own.
    let argument: String?

    /// The row whose id is the caller's.
    static func caller(_ type: RowType) -> RowLookup { RowLookup(type: type, argument: nil) }

    /// The row with the id that the argument names; an id that is no UUID is nobody's.
    static func byID(_ type: RowType, argument: String = "id") -> RowLookup {
        RowLookup(type: type, argument: argument)
    }

    func prepare(_ field: SelectedField) -> any PreparedLoad {
        var columns = ColumnSet()
        let layout = RowLayout(field.selections[0], of: type, columns: &columns)
        return Prepared(
            lookup: self, layout: layout,
            statement: Statement(
                "SELECT \(columns.sql) FROM \(type.table) "
                    + "WHERE \(type.scope) AND \(type.id.sql) = $2"))
    }

    private struct Prepared: RequestLoad {
        let lookup: RowLookup
        let layout: RowLayout
        let statement: Statement

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: RequestContext
        ) throws(BookplateError) -> Load {
            let userID = try request.caller().userID
            let id = lookup.argument.map { arguments[$0]?.string.flatMap { UUID($0) } } ?? userID
            guard let id else { return .ready(.null(parents.count)) }
            let answer = request.ask(statement, .of(userID, id))
            // Relations that start from the id need not wait for the row.
            return .foreseen(standIn: ForeseenRow(lookup.type.id, id)) { parents in
                request.children(of: parents) { () throws(BookplateError) in
                    let batch = RowBatch(try answer.rows(), layout)
                    return Children(
                        slots: [batch.count > 0 ? .object(group: 0, index: 0) : .null],
                        groups: [.init(batch)])
                }
            }
        }
    }
}
