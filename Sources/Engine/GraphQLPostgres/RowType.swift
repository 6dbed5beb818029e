import GraphQL
import Postgres

/// An object type of the schema whose objects are rows of one table.
package struct RowType: Sendable {
    /// The type's name in the schema.
    package let name: String
    /// The table with its alias, which is the same in every statement: `books b`.
    package let table: String
    /// The condition that selects the rows that the caller may see. `$1` is the caller: `b.user_id = $1`.
    package let scope: String
    package let id: Column
    package let fields: [String: RowField]

    package init(
        name: String, table: String, scope: String, id: Column, fields: [String: RowField]
    ) {
        self.name = name
        self.table = table
        self.scope = scope
        self.id = id
        self.fields = fields
    }
}

/// The source of a field's value.
package enum RowField: Sendable {
    case column(Column)
    /// Calculated from several columns while the response is written.
    case computed([Column], @Sendable (RowCells, inout ResponseWriter) -> LeafResult)
    case relation(any RowLoader)
    /// An object that consists of columns of the same row: it exists for each row and needs no statement. Its fields are
    /// listed here by name.
    case embedded([String: RowField])

    /// The resolver to return from a `ResolverSource`.
    package var resolver: FieldResolver {
        switch self {
        case .column, .computed: .property
        case .relation(let loader): .load(loader)
        case .embedded: .load(EmbeddedObject())
        }
    }
}

/// A loader that needs columns of its parent rows.
package protocol RowLoader: FieldLoader {
    var parentColumns: [Column] { get }
}

/// The cells of a computed field, by the index in its list of columns.
package struct RowCells {
    fileprivate let rows: Rows
    fileprivate let row: Int
    fileprivate let indices: [Int]

    /// The bytes of a cell; nil for NULL.
    package subscript(index: Int) -> UnsafeRawBufferPointer? { rows.bytes(row, indices[index]) }

    package func text(_ index: Int) -> String? { rows.text(row, indices[index]) }
}

/// The select list of a statement, without repetitions.
package struct ColumnSet {
    /// The columns in order; nil for a column that only another part of a union uses.
    private(set) var columns: [Column?]
    /// The formats of the columns.
    private(set) var formats: [CellFormat]

    /// - Parameter formats: The formats of columns that earlier parts of a union have added. A column of the same format can
    ///   share one of them.
    package init(sharing formats: [CellFormat] = []) {
        self.formats = formats
        columns = Array(repeating: nil, count: formats.count)
    }

    package var count: Int { columns.count }

    /// Returns the column's index in the select list, and adds the column if it is new.
    package mutating func index(of column: Column) -> Int {
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

    /// The SQL of the select list. It is never empty, because a selection may consist of `__typename` only.
    package var sql: String {
        columns.isEmpty ? "NULL" : columns.map { $0?.sql ?? "NULL" }.joined(separator: ", ")
    }

    /// The key of the current row in the text for `selectForEachKey`.
    package static let requestedKey = "requested.id"

    /// Returns a statement that selects the columns for each key in the array `$2`.
    ///
    /// PostgreSQL's planner does not know the length of an array. With `= ANY($2)` it may read all rows of the user and
    /// compare each with the keys. `OFFSET 0` keeps it from joining the keys with these rows, so it looks up each key in an
    /// index, and the work depends on the number of keys only. `unnest` in a select list costs less than in `FROM`,
    /// which stores the keys first.
    ///
    /// - Parameter from: The tables, conditions, and order of one key's rows, where `requestedKey` is the key.
    package func selectForEachKey(from: String) -> String {
        """
        SELECT found.*
        FROM (SELECT unnest($2::uuid[]) AS id) requested
        CROSS JOIN LATERAL (
            SELECT \(sql)
            FROM \(from)
            OFFSET 0
        ) found
        """
    }
}

/// The mapping from the fields of a selection to the columns of its statement. Made once per plan.
package final class RowLayout: Sendable {
    private enum Leaf: Sendable {
        case cell(index: Int, format: CellFormat)
        case computed([Int], @Sendable (RowCells, inout ResponseWriter) -> LeafResult)
        case none
    }

    /// The leaf fields by their index in the selection.
    private let leaves: [Leaf]
    private let relationColumns: [(column: Column, index: Int)]
    /// The layouts of embedded objects by the identity of their selection.
    private let embedded: [ObjectIdentifier: RowLayout]

    /// Adds the columns that the selection needs to `columns`.
    package convenience init(
        _ selection: PlannedSelection, of type: RowType, columns: inout ColumnSet
    ) {
        self.init(selection, type.fields, columns: &columns)
    }

    private init(
        _ selection: PlannedSelection, _ fields: [String: RowField], columns: inout ColumnSet
    ) {
        var leaves: [Leaf] = []
        var relationColumns: [(column: Column, index: Int)] = []
        var embedded: [ObjectIdentifier: RowLayout] = [:]
        for field in selection.fields {
            switch fields[field.selected.name] {
            case .column(let column):
                leaves.append(.cell(index: columns.index(of: column), format: column.format))
            case .computed(let needed, let write):
                leaves.append(.computed(needed.map { columns.index(of: $0) }, write))
            case .relation(let loader):
                for column in loader.parentColumns {
                    relationColumns.append((column, columns.index(of: column)))
                }
                leaves.append(.none)
            case .embedded(let fields):
                let selection = field.selected.selections[0]
                embedded[ObjectIdentifier(selection)] =
                    RowLayout(selection, fields, columns: &columns)
                leaves.append(.none)
            case nil:
                leaves.append(.none)
            }
        }
        self.leaves = leaves
        self.relationColumns = relationColumns
        self.embedded = embedded
    }

    /// Returns the layout of an embedded object.
    func embeddedLayout(for selection: PlannedSelection) -> RowLayout? {
        embedded[ObjectIdentifier(selection)]
    }

    /// Returns the index of a column that a relation needs.
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

/// A field with an object that is embedded in its parent's row.
private struct EmbeddedObject: FieldLoader {
    func prepare(_ field: SelectedField) -> any PreparedLoad {
        Prepared(selection: field.selections[0])
    }

    private struct Prepared: RowLoad {
        let selection: PlannedSelection

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: any RowContext
        ) throws -> Load {
            if parents is PlaceholderRow { return .needsParents }
            guard let parents = parents as? RowBatch,
                let layout = parents.layout.embeddedLayout(for: selection)
            else { throw RowError.unexpectedParents }
            return .ready(.each(of: parents.withLayout(layout)))
        }
    }
}

/// The parent of a speculative load: a row that is still being loaded and whose id is known.
///
/// When the row has been loaded, its `RowBatch` replaces the placeholder. See `RowLookup`.
package final class PlaceholderRow: ObjectBatch {
    private let column: Column
    private let id: UUID

    package init(_ column: Column, _ id: UUID) {
        self.column = column
        self.id = id
    }

    package let count = 1

    /// Writes nothing: the row replaces the placeholder before the response is written.
    package func write(
        field: Int, of object: Int, to writer: inout ResponseWriter
    ) -> LeafResult { .null }

    /// Returns the value of a column; nil if it is known only to the row.
    package func value(of column: Column) -> UUID? { column == self.column ? id : nil }
}

/// Rows of a result as objects of one type.
package final class RowBatch: ObjectBatch {
    package let rows: Rows
    let layout: RowLayout
    /// The indices of the rows that are the objects; nil for all rows.
    private let selected: [Int32]?
    /// The union result that the single object is part of; nil if it was not loaded by a union.
    private let union: UnionRows?

    package convenience init(
        _ rows: Rows, _ layout: RowLayout, selecting selected: [Int32]? = nil
    ) {
        self.init(rows, layout, selecting: selected, of: nil)
    }

    init(
        _ rows: Rows, _ layout: RowLayout, selecting selected: [Int32]?, of union: UnionRows?
    ) {
        self.rows = rows
        self.layout = layout
        self.selected = selected
        self.union = union
    }

    package var count: Int { selected?.count ?? rows.count }

    package func write(
        field: Int, of object: Int, to writer: inout ResponseWriter
    ) -> LeafResult {
        layout.write(field: field, row: row(of: object), of: rows, to: &writer)
    }

    package func row(of object: Int) -> Int { selected.map { Int($0[object]) } ?? object }

    /// Returns the rows of a relation that the same union loaded; nil if they need a statement of their own.
    func relatedRows(of selection: PlannedSelection) -> RowBatch? { union?.rows(of: selection) }

    /// Returns the same rows as objects of another selection.
    fileprivate func withLayout(_ layout: RowLayout) -> RowBatch {
        RowBatch(rows, layout, selecting: selected)
    }

    /// Returns the index of a column that a relation needs; nil if none needs it.
    package func index(of column: Column) -> Int? { layout.index(of: column) }

    /// Returns the cell of a column that a relation needs.
    package func cell(_ column: Column, of object: Int) -> UnsafeRawBufferPointer? {
        layout.index(of: column).flatMap { rows.bytes(row(of: object), $0) }
    }
}
