import GraphQL
import GraphQLPostgres
import Postgres

/// Reads rows of a type by ID, with the columns that a selection needs.
package struct RowsByID: Sendable {
    private let layout: RowLayout
    private let idIndex: Int
    private let statement: Statement
    /// The columns for the `RETURNING` of a statement that changes the type's table under its alias. Nil if a column may
    /// contain a subquery, that is, a parenthesis: subqueries in `RETURNING` see the rows from before the statement.
    package let returning: String?

    /// - Parameter key: The column of the IDs; nil for the type's `id`.
    package init(_ type: RowType, _ selection: PlannedSelection, key: Column? = nil) {
        let key = key ?? type.id
        var columns = ColumnSet()
        idIndex = columns.index(of: key)
        layout = RowLayout(selection, of: type, columns: &columns)
        returning = columns.sql.contains("(") ? nil : columns.sql
        statement = Statement(
            columns.selectForEachKey(
                from: """
                    \(type.table)
                    WHERE \(type.scope) AND \(key.sql) = \(ColumnSet.requestedKey)
                    """))
    }

    /// Adds the query to the current level of the execution.
    package func query(
        _ ids: [UUID], in request: RequestContext
    ) throws(BookplateError) -> RequestContext.PendingRows {
        request.query(statement, Self.parameters(ids, try request.caller()))
    }

    /// Adds the query to a mutation's own transaction.
    @discardableResult
    package func append(_ ids: [UUID], to pipeline: inout Pipeline, for viewer: Viewer) -> RowsKey {
        pipeline.appendForRows(statement, Self.parameters(ids, viewer))
    }

    private static func parameters(_ ids: [UUID], _ viewer: Viewer) -> Parameters {
        var parameters = Parameters()
        parameters.append(uuid: viewer.userID)
        parameters.append(uuids: ids)
        return parameters
    }

    /// Returns the rows and the index of each ID's row.
    package func batch(
        _ pending: RequestContext.PendingRows
    ) throws(BookplateError) -> (RowBatch, [UUID: Int32]) {
        batch(try pending.rows())
    }

    /// Returns the rows and the index of each ID's row.
    func batch(_ rows: Rows) -> (RowBatch, [UUID: Int32]) {
        var indices = [UUID: Int32](minimumCapacity: rows.count)
        for row in 0..<rows.count {
            if let id = rows.uuid(row, idIndex) { indices[id] = Int32(row) }
        }
        return (RowBatch(rows, layout), indices)
    }

    /// Returns the only row, for a field with one parent.
    ///
    /// - Throws: `.notFound(reason)` if there is no row.
    package func only(_ rows: Rows, orElse reason: ErrorReason) throws(BookplateError) -> Children {
        guard rows.count > 0 else { throw .notFound(reason) }
        return Children(
            slots: [.object(group: 0, index: 0)], groups: [.init(RowBatch(rows, layout))])
    }
}
