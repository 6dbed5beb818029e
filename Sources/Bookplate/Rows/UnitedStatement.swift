import GraphQL
import Postgres

/// Selects of different tables as one statement: the server has one to send and one result to read, where each costs it
/// as much as a tenth of a request.
///
/// Their columns share places, as far as their formats allow; what a part does not have is NULL there. The last column
/// says which part a row is of.
struct UnitedStatement {
    private var formats: [CellFormat] = []
    private var parts: [(columns: ColumnSet, from: String)] = []

    /// Adds a part.
    ///
    /// - Parameter from: tables, conditions and order.
    /// - Returns: how the selection reads its rows.
    mutating func add(
        _ type: RowType, _ selection: PlannedSelection, from: String
    ) -> RowLayout {
        var columns = ColumnSet(sharing: formats)
        let layout = RowLayout(selection, of: type, columns: &columns)
        formats = columns.formats
        parts.append((columns, from))
        return layout
    }

    /// Where a row says which part it is of; nil where there is one part only.
    var partColumn: Int? { parts.count > 1 ? formats.count : nil }

    var sql: String {
        if partColumn == nil { return "SELECT \(parts[0].columns.sql) FROM \(parts[0].from)" }
        // Each part comes in its order: PostgreSQL appends them, though SQL does not say so.
        return parts.enumerated().map { number, part in
            let cells = formats.indices.map { place in
                let column = place < part.columns.count ? part.columns.columns[place] : nil
                return "(\(column?.sql ?? "NULL"))::\(formats[place].sql)"
            }
            return "(SELECT \((cells + ["\(number)"]).joined(separator: ", ")) FROM \(part.from))"
        }.joined(separator: " UNION ALL ")
    }
}

/// The relations of a looked-up row that are found by its id, too, and therefore come in its statement.
struct UnitedRelations: Sendable {
    /// Those behind the first part, which is the row itself.
    private var parts: [(selection: PlannedSelection, layout: RowLayout)] = []
    private let partColumn: Int?

    /// Adds to a statement, behind the row's own part, those that a selection asks for.
    init(of type: RowType, _ selection: PlannedSelection, in statement: inout UnitedStatement) {
        for field in selection.fields {
            guard case .relation(let relation as RowRelation)? = type.fields[field.selected.name],
                relation.key == type.id
            else { continue }
            let selection = field.selected.selections[0]
            parts.append(
                (selection, statement.add(relation.type(), selection, from: relation.fromOfOne)))
        }
        partColumn = statement.partColumn
    }

    /// Tells the rows of a result apart by their parts.
    func cut(_ rows: Rows) -> UnitedRows {
        var numbers = Array(repeating: [Int32](), count: parts.count + 1)
        for row in 0..<Int32(clamping: rows.count) {
            let part = partColumn.map { Int(rows.int32(Int(row), $0) ?? 0) } ?? 0
            if numbers.indices.contains(part) { numbers[part].append(row) }
        }
        return UnitedRows(relations: self, rows: rows, numbers: numbers)
    }

    fileprivate func rows(of selection: PlannedSelection, in united: UnitedRows) -> RowBatch? {
        guard let part = parts.firstIndex(where: { $0.selection === selection }) else { return nil }
        return RowBatch(united.rows, parts[part].layout, selecting: united.numbers[part + 1])
    }
}

/// A looked-up row, and the rows of its relations that came with it.
struct UnitedRows {
    fileprivate let relations: UnitedRelations
    let rows: Rows
    /// The rows of each part, the first being the row's own.
    fileprivate let numbers: [[Int32]]

    /// The row itself, as one object; as none where it is not there.
    func row(_ layout: RowLayout) -> RowBatch {
        RowBatch(rows, layout, selecting: numbers[0], with: self)
    }

    /// The rows of a relation; nil where they have to be asked for.
    func rows(of selection: PlannedSelection) -> RowBatch? {
        relations.rows(of: selection, in: self)
    }
}

extension CellFormat {
    /// The type of all columns of the format, where several have to be of one.
    fileprivate var sql: String {
        switch self {
        case .uuid: "uuid"
        case .text: "text"
        case .integer: "int8"
        case .float: "float8"
        case .boolean: "boolean"
        case .timestamp: "timestamptz"
        case .texts: "text[]"
        }
    }
}
