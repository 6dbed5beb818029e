import GraphQL
import Postgres

/// One row, or none, for a field of the root: `me`, `book(id:)`. The rows of its relations come in the same statement.
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
        let selection = field.selections[0]
        var statement = UnitedStatement()
        let layout = statement.add(
            type, selection, from: "\(type.table) WHERE \(type.scope) AND \(type.id.sql) = $2")
        let united = UnitedRelations(of: type, selection, in: &statement)
        return Prepared(
            lookup: self, layout: layout, united: united, statement: Statement(statement.sql))
    }

    private struct Prepared: RequestLoad {
        let lookup: RowLookup
        let layout: RowLayout
        let united: UnitedRelations
        let statement: Statement

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: RequestContext
        ) throws(BookplateError) -> Load {
            let userID = try request.caller().userID
            let id = lookup.argument.map { arguments[$0]?.string.flatMap { UUID($0) } } ?? userID
            guard let id else { return .ready(.null(parents.count)) }
            let answer = request.query(statement, .of(userID, id))
            // Lists that start from the id need not wait for the row.
            return .speculative(placeholder: ForeseenRow(lookup.type.id, id)) { parents in
                request.children(of: parents) { () throws(BookplateError) in
                    let row = united.cut(try answer.rows()).row(layout)
                    return Children(
                        slots: [row.count > 0 ? .object(group: 0, index: 0) : .null],
                        groups: [.init(row)])
                }
            }
        }
    }
}
