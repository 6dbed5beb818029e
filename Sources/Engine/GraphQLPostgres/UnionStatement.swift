import GraphQL
import Postgres

/// Several selects of different tables, combined into one statement with `UNION ALL`.
///
/// Each statement of a pipeline costs about a tenth of a small request, so a row and its relations are loaded together.
/// The parts share columns of equal format. A part that has no value for a column selects NULL. The last column contains
/// the number of the part.
///
/// Example: a book with `title` (text), its review with `rating` (integer) and `text` (text):
///
///     (SELECT (b.title)::text, (NULL)::int8, 0 FROM books b WHERE …)
///     UNION ALL
///     (SELECT (r.text)::text, (r.rating)::int8, 1 FROM reviews r WHERE …)
struct UnionStatement {
    private var formats: [CellFormat] = []
    private var parts: [(columns: ColumnSet, from: String)] = []

    /// Adds a part.
    ///
    /// - Parameter from: The tables, conditions, and order.
    /// - Returns: The layout of the part's rows.
    mutating func add(
        _ type: RowType, _ selection: PlannedSelection, from: String
    ) -> RowLayout {
        var columns = ColumnSet(sharing: formats)
        let layout = RowLayout(selection, of: type, columns: &columns)
        formats = columns.formats
        parts.append((columns, from))
        return layout
    }

    /// The index of the column with the part's number; nil if there is a single part.
    var partColumn: Int? { parts.count > 1 ? formats.count : nil }

    var sql: String {
        if partColumn == nil { return "SELECT \(parts[0].columns.sql) FROM \(parts[0].from)" }
        // PostgreSQL appends the parts and keeps the order of each, although the SQL standard does not guarantee this.
        return parts.enumerated().map { number, part in
            let cells = formats.indices.map { index in
                let column = index < part.columns.count ? part.columns.columns[index] : nil
                return "(\(column?.sql ?? "NULL"))::\(formats[index].sql)"
            }
            return "(SELECT \((cells + ["\(number)"]).joined(separator: ", ")) FROM \(part.from))"
        }.joined(separator: " UNION ALL ")
    }
}

/// The relations that are loaded by the lookup statement of their parent, because they have the same key and no arguments.
struct UnionRelations: Sendable {
    /// The relations, in the order of the parts after the first part, which is the row itself.
    private var parts: [(selection: PlannedSelection, layout: RowLayout)] = []
    private let partColumn: Int?

    /// Adds the relations that the selection contains to the statement, which already has the row's own part.
    init(of type: RowType, _ selection: PlannedSelection, in statement: inout UnionStatement) {
        for field in selection.fields {
            guard case .relation(let relation as RowRelation)? = type.fields[field.selected.name],
                relation.key == type.id, relation.bind == nil
            else { continue }
            let selection = field.selected.selections[0]
            parts.append(
                (
                    selection,
                    statement.add(relation.type(), selection, from: relation.from)
                ))
        }
        partColumn = statement.partColumn
    }

    /// Assigns the rows of a result to the parts.
    func split(_ rows: Rows) -> UnionRows {
        var rowIndices = Array(repeating: [Int32](), count: parts.count + 1)
        for row in 0..<Int32(clamping: rows.count) {
            let part = partColumn.map { Int(rows.int32(Int(row), $0) ?? 0) } ?? 0
            if rowIndices.indices.contains(part) { rowIndices[part].append(row) }
        }
        return UnionRows(relations: self, rows: rows, rowIndices: rowIndices)
    }

    fileprivate func rows(of selection: PlannedSelection, in union: UnionRows) -> RowBatch? {
        guard let part = parts.firstIndex(where: { $0.selection === selection }) else { return nil }
        return RowBatch(union.rows, parts[part].layout, selecting: union.rowIndices[part + 1])
    }
}

/// The result of a union: a row and the rows of its relations.
struct UnionRows {
    fileprivate let relations: UnionRelations
    let rows: Rows
    /// The indices of each part's rows. The first part is the row itself.
    fileprivate let rowIndices: [[Int32]]

    /// Returns a batch with the row itself; an empty batch if it does not exist.
    func row(_ layout: RowLayout) -> RowBatch {
        RowBatch(rows, layout, selecting: rowIndices[0], of: self)
    }

    /// Returns the rows of a relation; nil if the union does not contain it.
    func rows(of selection: PlannedSelection) -> RowBatch? {
        relations.rows(of: selection, in: self)
    }
}

extension CellFormat {
    /// The SQL type that a union casts all columns of this format to.
    fileprivate var sql: String {
        switch self {
        case .uuid: "uuid"
        case .text: "text"
        case .integer: "int8"
        case .float: "float8"
        case .boolean: "boolean"
        case .timestamp: "timestamptz"
        case .texts: "text[]"
        case .uuids: "uuid[]"
        }
    }
}
