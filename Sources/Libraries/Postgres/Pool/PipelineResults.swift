/// The results of a pipeline's statements, by the keys that `Pipeline.append` returned.
package struct PipelineResults: Sendable {
    /// In the order of the statements.
    private let rows: [Rows]

    package init(_ rows: [Rows]) {
        self.rows = rows
    }

    /// The decoded rows of a statement. Rows that `Row` refuses are left out.
    package subscript<Row>(_ key: ResultKey<Row>) -> [Row] {
        rows[key.index].decode(Row.self)
    }

    /// The rows of a statement.
    package subscript(_ key: RowsKey) -> Rows { rows[key.index] }

    /// The rows of the last statement, for example the one with which a mutation reads back the row that it changed. The
    /// pipeline must have a statement.
    package var last: Rows { rows[rows.count - 1] }
}

/// Identifies the decoded rows of one statement of a pipeline.
package struct ResultKey<Row: RowDecodable>: Sendable {
    let index: Int
}

/// Identifies the rows of one statement of a pipeline.
package struct RowsKey: Sendable {
    let index: Int
}
