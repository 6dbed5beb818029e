import GraphQL
import Postgres

/// Binds what a statement needs beside the caller, who is `$1`.
typealias BindArguments = @Sendable (inout Parameters, ArgumentValues) throws(BookplateError) -> Void

/// One row, or none, for a field of the root: `me`, `book(id:)`.
struct RowLookup: FieldLoader {
    let type: RowType
    /// Completes the type's scope: ` AND b.id = $2`.
    let condition: String
    let bind: BindArguments

    init(_ type: RowType, where condition: String = "", bind: @escaping BindArguments = { _, _ in }) {
        self.type = type
        self.condition = condition
        self.bind = bind
    }

    /// The row with the id that the argument names; an id that is no UUID is nobody's.
    static func byID(_ type: RowType, argument: String = "id") -> RowLookup {
        RowLookup(type, where: "\(type.id.sql) = $2") { parameters, arguments in
            parameters.append(uuid: arguments[argument]?.string.flatMap { UUID($0) })
        }
    }

    func prepare(_ field: SelectedField) -> any PreparedLoad {
        var columns = ColumnSet()
        let layout = RowLayout(field.selections[0], of: type, columns: &columns)
        let filter = [type.scope, condition].filter { !$0.isEmpty }.joined(separator: " AND ")
        return Prepared(
            layout: layout,
            statement: Statement("SELECT \(columns.sql) FROM \(type.table) WHERE \(filter)"),
            bind: bind)
    }

    private struct Prepared: RequestLoad {
        let layout: RowLayout
        let statement: Statement
        let bind: BindArguments

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: RequestContext
        ) throws(BookplateError) -> Load {
            var parameters = Parameters()
            parameters.append(uuid: try request.caller().userID)
            try bind(&parameters, arguments)
            let answer = request.ask(statement, parameters)
            return .afterFlush {
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
