import GraphQL
import Postgres

/// The rows that belong to each of many parents, by one statement: `Book.review`, `Book.shelves`.
struct RowRelation: RowLoader {
    enum Shape: Sendable {
        /// At most one row for a parent.
        case one
        /// A list, in the statement's order.
        case many
    }

    /// Asked for when a plan is made: the types refer to one another in circles.
    let type: @Sendable () -> RowType
    let shape: Shape
    /// The parent's column that finds its rows. Parents where it is null have none.
    let key: Column
    /// What is selected beside the type's columns: the parent's key, as the found row has it.
    let matching: String
    /// Tables and conditions, `$1` being the caller and `= ANY($2)` one of the keys:
    /// `reviews r WHERE r.user_id = $1 AND r.book_id = ANY($2)`.
    let from: String
    /// Further columns of the parent, and whether it can have rows at all, judged by them.
    let condition: (columns: [Column], isMet: @Sendable ([UnsafeRawBufferPointer?]) -> Bool)?

    init(
        _ shape: Shape, _ type: @autoclosure @escaping @Sendable () -> RowType, key: Column,
        matching: String, from: String,
        condition: (columns: [Column], isMet: @Sendable ([UnsafeRawBufferPointer?]) -> Bool)? = nil
    ) {
        self.shape = shape
        self.type = type
        self.key = key
        self.matching = matching
        self.from = from
        self.condition = condition
    }

    var parentColumns: [Column] { [key] + (condition?.columns ?? []) }

    /// For a single key. An array's length is unknown to the planner: for the shelves of one book it went through all
    /// shelved books of the reader rather than to the one.
    var fromOfOne: String { from.replacing("= ANY($2)", with: "= $2") }

    func prepare(_ field: SelectedField) -> any PreparedLoad {
        var columns = ColumnSet()
        let match = columns.index(of: Column(matching, .uuid))
        let layout = RowLayout(field.selections[0], of: type(), columns: &columns)
        return Prepared(
            relation: self, selection: field.selections[0], layout: layout, match: match,
            statement: Statement("SELECT \(columns.sql) FROM \(from)"),
            statementOfOne: Statement("SELECT \(columns.sql) FROM \(fromOfOne)"))
    }

    private struct Prepared: RequestLoad {
        let relation: RowRelation
        let selection: PlannedSelection
        let layout: RowLayout
        /// Where the parent's key stands in the rows.
        let match: Int
        let statement: Statement
        let statementOfOne: Statement

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: RequestContext
        ) throws(BookplateError) -> Load {
            let keys: ParentKeys
            switch parents {
            case let parents as RowBatch:
                keys = parents.keys(relation.key, where: relation.condition)
                if !keys.isEmpty, let rows = parents.united(selection) {
                    return .ready(relation.only(rows))
                }
            case is ForeseenRow:
                // What its id finds comes with it; for all else the row has to be there.
                return .needsParents
            default:
                throw .internalError
            }
            let empty = relation.shape == .one ? Slot.null : .list(start: 0, count: 0)
            if keys.isEmpty {
                return .ready(
                    Children(slots: Array(repeating: empty, count: parents.count), groups: []))
            }
            var parameters = Parameters()
            parameters.append(uuid: try request.caller().userID)
            let isOne = keys.distinct.count == 1
            if isOne {
                parameters.append(uuid: keys.distinct[0])
            } else {
                parameters.append(uuids: keys.distinct)
            }
            let answer = request.query(isOne ? statementOfOne : statement, parameters)
            return .afterFlush { parents in
                request.children(of: parents) { () throws(BookplateError) in
                    let rows = try answer.rows()
                    let batch = RowBatch(rows, layout)
                    return switch relation.shape {
                    case .one: keys.one(rows, match, batch)
                    case .many: keys.many(rows, match, batch)
                    }
                }
            }
        }
    }
}

extension RowRelation {
    /// The rows of a single parent.
    fileprivate func only(_ rows: RowBatch) -> Children {
        let items = (0..<Int32(rows.count)).map { Slot.object(group: 0, index: $0) }
        return switch shape {
        case .one: Children(slots: [items.last ?? .null], groups: [.init(rows)])
        case .many:
            Children(
                slots: [.list(start: 1, count: Int32(items.count))] + items, groups: [.init(rows)])
        }
    }
}

/// The keys of a level's parents, and the way back from a key to its parents.
struct ParentKeys {
    /// By parent; nil where it has none.
    private let keys: [UUID?]
    /// Each key once, in order of appearance.
    let distinct: [UUID]
    private let positions: [UUID: Int32]

    init(_ keys: [UUID?]) {
        self.keys = keys
        var distinct: [UUID] = []
        var positions = [UUID: Int32](minimumCapacity: keys.count)
        for case let key? in keys where positions[key] == nil {
            positions[key] = Int32(distinct.count)
            distinct.append(key)
        }
        self.distinct = distinct
        self.positions = positions
    }

    var isEmpty: Bool { distinct.isEmpty }

    /// The last row of each key for its parents.
    func one(_ rows: Rows, _ match: Int, _ batch: RowBatch) -> Children {
        var found = [Slot](repeating: .null, count: distinct.count)
        for row in 0..<rows.count {
            guard let position = rows.uuid(row, match).flatMap({ positions[$0] }) else { continue }
            found[Int(position)] = .object(group: 0, index: Int32(row))
        }
        let slots = keys.map { key in
            key.flatMap { positions[$0] }.map { found[Int($0)] } ?? .null
        }
        return Children(slots: slots, groups: [.init(batch)])
    }

    /// All rows of each key for its parents, in the order of the rows.
    func many(_ rows: Rows, _ match: Int, _ batch: RowBatch) -> Children {
        var found = [[Int32]](repeating: [], count: distinct.count)
        for row in 0..<rows.count {
            guard let position = rows.uuid(row, match).flatMap({ positions[$0] }) else { continue }
            found[Int(position)].append(Int32(row))
        }
        var slots: [Slot] = []
        var items: [Slot] = []
        for key in keys {
            let rows = key.flatMap { positions[$0] }.map { found[Int($0)] } ?? []
            slots.append(
                .list(start: Int32(keys.count + items.count), count: Int32(rows.count)))
            for row in rows { items.append(.object(group: 0, index: row)) }
        }
        return Children(slots: slots + items, groups: [.init(batch)])
    }
}

extension RowBatch {
    /// The parents' keys, those left out that cannot have rows.
    func keys(
        _ key: Column,
        where condition: (
            columns: [Column], isMet: @Sendable ([UnsafeRawBufferPointer?]) -> Bool
        )? =
            nil
    ) -> ParentKeys {
        guard let index = layout.index(of: key) else { return ParentKeys([]) }
        return ParentKeys(
            (0..<count).map { object in
                if let condition,
                    !condition.isMet(condition.columns.map { cell($0, of: object) })
                {
                    return nil
                }
                return rows.uuid(row(of: object), index)
            })
    }
}
