import GraphQL
import Postgres

/// A type of the schema whose objects are rows of one table.
struct RowType: Sendable {
    /// The type's name in the schema.
    let name: String
    /// The table with its alias, the same in every statement: `books b`.
    let table: String
    /// Which rows the caller may see, `$1` being the caller: `b.user_id = $1`.
    let scope: String
    let id: Column
    let fields: [String: RowField]
}

/// Where a field of a row comes from.
enum RowField: Sendable {
    case column(Column)
    /// Made of several columns when it is written.
    case computed([Column], @Sendable (RowCells, inout ResponseWriter) -> LeafResult)
    case relation(any RowLoader)
}

/// A loader that starts from columns of its parents.
protocol RowLoader: FieldLoader {
    var parentColumns: [Column] { get }
}

/// The cells of a computed field, by position in its list of columns.
struct RowCells {
    fileprivate let rows: Rows
    fileprivate let row: Int
    fileprivate let indices: [Int]

    /// nil for null.
    subscript(position: Int) -> UnsafeRawBufferPointer? { rows.bytes(row, indices[position]) }

    func text(_ position: Int) -> String? { rows.text(row, indices[position]) }
}

/// The columns that a statement selects, each once.
struct ColumnSet {
    /// By place; nil where only another part of the statement has a column.
    private(set) var columns: [Column?]
    /// By place.
    private(set) var formats: [CellFormat]

    /// - Parameter formats: of places that are there already, each for one column of its format.
    init(sharing formats: [CellFormat] = []) {
        self.formats = formats
        columns = Array(repeating: nil, count: formats.count)
    }

    var count: Int { columns.count }

    /// The column's place in the statement; it is added where it is new.
    mutating func index(of column: Column) -> Int {
        if let index = columns.firstIndex(of: column) { return index }
        let free = columns.indices.first { columns[$0] == nil && formats[$0] == column.format }
        if let free {
            columns[free] = column
            return free
        }
        columns.append(column)
        formats.append(column.format)
        return columns.count - 1
    }

    /// The select list; never empty, since a row may be asked for nothing but its type's name.
    var sql: String {
        columns.isEmpty ? "NULL" : columns.map { $0?.sql ?? "NULL" }.joined(separator: ", ")
    }
}

/// How the fields of a selection are read from the rows of its statement. Made once per plan.
final class RowLayout: Sendable {
    private enum Leaf: Sendable {
        case cell(index: Int, format: CellFormat)
        case computed([Int], @Sendable (RowCells, inout ResponseWriter) -> LeafResult)
        case none
    }

    /// By position in the selection.
    private let leaves: [Leaf]
    private let relationColumns: [(column: Column, index: Int)]

    /// Reads the selection's fields from `type`'s table; `columns` collects what that needs.
    init(_ selection: PlannedSelection, of type: RowType, columns: inout ColumnSet) {
        var leaves: [Leaf] = []
        var relationColumns: [(column: Column, index: Int)] = []
        for field in selection.fields {
            switch type.fields[field.selected.name] {
            case .column(let column):
                leaves.append(.cell(index: columns.index(of: column), format: column.format))
            case .computed(let needed, let write):
                leaves.append(.computed(needed.map { columns.index(of: $0) }, write))
            case .relation(let loader):
                for column in loader.parentColumns {
                    relationColumns.append((column, columns.index(of: column)))
                }
                leaves.append(.none)
            case nil:
                leaves.append(.none)
            }
        }
        self.leaves = leaves
        self.relationColumns = relationColumns
    }

    /// Where a column that a relation needs stands.
    func index(of column: Column) -> Int? {
        relationColumns.first { $0.column == column }?.index
    }

    @inline(__always)
    func write(field: Int, row: Int, of rows: Rows, to writer: inout ResponseWriter) -> LeafResult {
        switch leaves[field] {
        case .cell(let index, let format):
            guard let cell = rows.bytes(row, index) else { return .null }
            return writer.write(cell: cell, as: format)
        case .computed(let indices, let write):
            return write(RowCells(rows: rows, row: row, indices: indices), &writer)
        case .none:
            return .null
        }
    }
}

/// A row that is asked for, and of which the id is known already.
final class ForeseenRow: ObjectBatch {
    private let column: Column
    private let id: UUID

    init(_ column: Column, _ id: UUID) {
        self.column = column
        self.id = id
    }

    let count = 1

    /// Nothing is written of it: the row itself takes its place.
    func write(field: Int, of object: Int, to writer: inout ResponseWriter) -> LeafResult { .null }

    /// nil where only the row knows.
    func value(of column: Column) -> UUID? { column == self.column ? id : nil }
}

/// Rows of a result, as objects of one type.
final class RowBatch: ObjectBatch {
    let rows: Rows
    let layout: RowLayout
    /// Which rows are the objects; nil for all.
    private let selected: [Int32]?
    /// What came with its one object; nil where nothing did.
    private let united: UnitedRows?

    init(
        _ rows: Rows, _ layout: RowLayout, selecting selected: [Int32]? = nil,
        with united: UnitedRows? = nil
    ) {
        self.rows = rows
        self.layout = layout
        self.selected = selected
        self.united = united
    }

    var count: Int { selected?.count ?? rows.count }

    func write(field: Int, of object: Int, to writer: inout ResponseWriter) -> LeafResult {
        layout.write(field: field, row: row(of: object), of: rows, to: &writer)
    }

    func row(of object: Int) -> Int { selected.map { Int($0[object]) } ?? object }

    /// The rows of a relation that came with it; nil where they have to be asked for.
    func united(_ selection: PlannedSelection) -> RowBatch? { united?.rows(of: selection) }

    /// The cell of a column that a relation asked for.
    func cell(_ column: Column, of object: Int) -> UnsafeRawBufferPointer? {
        layout.index(of: column).flatMap { rows.bytes(row(of: object), $0) }
    }
}
