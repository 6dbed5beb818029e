import GraphQL
import Postgres

/// The related rows of all parents of a level, loaded by one statement: `Book.review`, `Book.shelves`.
package struct RowRelation: RowLoader {
    package enum Shape: Sendable {
        /// An object or null: each parent has at most one row.
        case one
        /// A list in the statement's order.
        case many
    }

    /// Called when an operation is planned, because the types refer to each other.
    let type: @Sendable () -> RowType
    let shape: Shape
    /// The parent's column that identifies its rows. Parents where it is NULL have none.
    let key: Column
    /// The expression of the related row that equals the parent's key. It is selected to assign rows to parents.
    let matching: String
    /// The tables, conditions, and order of one parent's rows. `$1` is the caller, and `= $2` compares with the parent's key:
    /// `reviews r WHERE r.user_id = $1 AND r.book_id = $2`.
    let from: String
    /// `from` for many parents.
    private let fromForEachKey: String
    /// Appends the parameters after `$2`, from the arguments of the field. Nil if the field has no arguments.
    let bind: Bind?

    /// - Throws: The product's own error if an argument is invalid.
    package typealias Bind = @Sendable (ArgumentValues, inout Parameters) throws -> Void

    package init(
        _ shape: Shape, _ type: @autoclosure @escaping @Sendable () -> RowType, key: Column,
        matching: String, from: String, bind: Bind? = nil
    ) {
        self.shape = shape
        self.type = type
        self.key = key
        self.matching = matching
        self.from = from
        fromForEachKey = from.replacing("= $2", with: "= \(ColumnSet.requestedKey)")
        self.bind = bind
    }

    package var parentColumns: [Column] { [key] }

    package func prepare(_ field: SelectedField) -> any PreparedLoad {
        var columns = ColumnSet()
        let keyIndex = columns.index(of: Column(matching, .uuid))
        let layout = RowLayout(field.selections[0], of: type(), columns: &columns)
        return Prepared(
            relation: self, selection: field.selections[0], layout: layout, keyIndex: keyIndex,
            statement: Statement(columns.selectForEachKey(from: fromForEachKey)),
            singleKeyStatement: Statement("SELECT \(columns.sql) FROM \(from)"))
    }

    private struct Prepared: RowLoad {
        let relation: RowRelation
        let selection: PlannedSelection
        let layout: RowLayout
        /// The index of the column with the parent's key.
        let keyIndex: Int
        let statement: Statement
        let singleKeyStatement: Statement

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: any RowContext
        ) throws -> Load {
            let keys: ParentKeys
            switch parents {
            case let parents as RowBatch:
                keys = parents.keys(relation.key)
                if !keys.isEmpty, let rows = parents.relatedRows(of: selection) {
                    return .ready(relation.children(ofSingleParent: rows))
                }
            case is PlaceholderRow:
                // Relations that need only the id are part of the parent's own statement. The others need the row.
                return .needsParents
            default:
                throw RowError.unexpectedParents
            }
            let empty = relation.shape == .one ? Slot.null : .list(start: 0, count: 0)
            if keys.isEmpty {
                return .ready(
                    Children(slots: Array(repeating: empty, count: parents.count), groups: []))
            }
            var parameters = Parameters()
            parameters.append(uuid: try request.callerID())
            let isSingle = keys.distinct.count == 1
            if isSingle {
                parameters.append(uuid: keys.distinct[0])
            } else {
                parameters.append(uuids: keys.distinct)
            }
            try relation.bind?(arguments, &parameters)
            let pending = request.pending(
                isSingle ? singleKeyStatement : statement, parameters)
            return .afterFlush { parents in
                request.children(of: parents) {
                    let rows = try pending.rows()
                    let batch = RowBatch(rows, layout)
                    return switch relation.shape {
                    case .one: keys.objects(rows, keyIndex, batch)
                    case .many: keys.lists(rows, keyIndex, batch)
                    }
                }
            }
        }
    }
}

extension RowRelation {
    /// Returns the children of a level with a single parent.
    fileprivate func children(ofSingleParent rows: RowBatch) -> Children {
        let items = (0..<Int32(rows.count)).map { Slot.object(group: 0, index: $0) }
        return switch shape {
        case .one: Children(slots: [items.last ?? .null], groups: [.init(rows)])
        case .many:
            Children(
                slots: [.list(start: 1, count: Int32(items.count))] + items, groups: [.init(rows)])
        }
    }
}

/// The keys of a level's parents, each sent once, and the assignment of the found rows to the parents.
///
/// Example: three books on the shelves a, b, and a have the keys `[a, b, a]` and the distinct keys `[a, b]`. The statement
/// returns the rows of a and b, and the first and third book share the rows of a.
package struct ParentKeys {
    /// The key of each parent; nil if it has none.
    private let keys: [UUID?]
    /// The keys without repetitions, in order of their first parent.
    package let distinct: [UUID]
    /// The index of each key in `distinct`.
    private let indices: [UUID: Int32]

    package init(_ keys: [UUID?]) {
        self.keys = keys
        var distinct: [UUID] = []
        var indices = [UUID: Int32](minimumCapacity: keys.count)
        for case let key? in keys where indices[key] == nil {
            indices[key] = Int32(distinct.count)
            distinct.append(key)
        }
        self.distinct = distinct
        self.indices = indices
    }

    package var isEmpty: Bool { distinct.isEmpty }

    /// Returns an object or null for each parent. If a key has several rows, the last one counts.
    package func objects(_ rows: Rows, _ keyIndex: Int, _ batch: RowBatch) -> Children {
        var found = [Slot](repeating: .null, count: distinct.count)
        for row in 0..<rows.count {
            guard let index = rows.uuid(row, keyIndex).flatMap({ indices[$0] }) else { continue }
            found[Int(index)] = .object(group: 0, index: Int32(row))
        }
        let slots = keys.map { key in
            key.flatMap { indices[$0] }.map { found[Int($0)] } ?? .null
        }
        return Children(slots: slots, groups: [.init(batch)])
    }

    /// Returns a list for each parent, in the order of the rows.
    package func lists(_ rows: Rows, _ keyIndex: Int, _ batch: RowBatch) -> Children {
        var found = [[Int32]](repeating: [], count: distinct.count)
        for row in 0..<rows.count {
            guard let index = rows.uuid(row, keyIndex).flatMap({ indices[$0] }) else { continue }
            found[Int(index)].append(Int32(row))
        }
        var slots: [Slot] = []
        var items: [Slot] = []
        for key in keys {
            let rows = key.flatMap { indices[$0] }.map { found[Int($0)] } ?? []
            slots.append(
                .list(start: Int32(keys.count + items.count), count: Int32(rows.count)))
            for row in rows { items.append(.object(group: 0, index: row)) }
        }
        return Children(slots: slots + items, groups: [.init(batch)])
    }
}

extension RowBatch {
    /// Returns the keys of the objects.
    package func keys(_ key: Column) -> ParentKeys {
        guard let index = layout.index(of: key) else { return ParentKeys([]) }
        return ParentKeys((0..<count).map { rows.uuid(row(of: $0), index) })
    }
}
