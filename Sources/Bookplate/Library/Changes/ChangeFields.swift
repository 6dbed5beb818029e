import GraphQL
import GraphQLPostgres
import Postgres

/// `Query.changes`: a page of the log of the caller's library.
struct Changes: FieldLoader {
    static let firstMax = 500

    static let pageFields: [String: FieldResolver] = [
        "changes": .load(ChangesOfPage()), "cursor": .property, "hasMore": .property,
        "resetRequired": .property,
    ]

    /// - Parameter nodes: the types that a library consists of.
    static func changeFields(nodes: [RowType]) -> [String: FieldResolver] {
        [
            "cursor": .property, "kind": .property, "typename": .property, "id": .property,
            "at": .property, "node": .load(ChangeNode(types: nodes)),
        ]
    }

    func prepare(_ field: SelectedField) -> any PreparedLoad {
        Prepared(selection: field.selections[0])
    }

    private struct Prepared: RequestLoad {
        let selection: PlannedSelection

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: RequestContext
        ) throws(BookplateError) -> Load {
            let userID = try request.caller().userID
            let cursor = try arguments["after"]?.string.map(cursor) ?? ChangeCursor(seq: 0)
            let first = arguments["first"]?.int ?? 100
            guard (1...Changes.firstMax).contains(first) else {
                throw .badUserInput(field: "first", "Ask for 1 to \(Changes.firstMax) at once.")
            }
            let answer = request.query(
                Change.select, Change.parameters(userID, after: cursor, first: first))
            return .afterFlush { parents in
                request.children(of: parents) { () throws(BookplateError) in
                    let page = ChangePage(try answer.rows(), after: cursor, first: first)
                    return .each(of: ChangePageBatch(page, selection))
                }
            }
        }

        private func cursor(_ text: String) throws(BookplateError) -> ChangeCursor {
            try ChangeCursor(text)
        }
    }
}

private final class ChangePageBatch: ObjectBatch {
    let page: ChangePage
    private let selection: PlannedSelection

    init(_ page: ChangePage, _ selection: PlannedSelection) {
        self.page = page
        self.selection = selection
    }

    let count = 1

    func write(field: Int, of object: Int, to writer: inout ResponseWriter) -> LeafResult {
        switch selection.fields[field].selected.name {
        case "cursor": writer.write(page.cursor.text)
        case "hasMore": writer.write(page.hasMore)
        case "resetRequired": writer.write(page.resetRequired)
        default: return .null
        }
        return .value
    }
}

/// `ChangePage.changes`: in memory already.
private struct ChangesOfPage: FieldLoader {
    func prepare(_ field: SelectedField) -> any PreparedLoad {
        Prepared(selection: field.selections[0])
    }

    private struct Prepared: RequestLoad {
        let selection: PlannedSelection

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: RequestContext
        ) throws(BookplateError) -> Load {
            guard let page = (parents as? ChangePageBatch)?.page else { throw .internalError }
            let items = page.changes.indices.map { Slot.object(group: 0, index: Int32($0)) }
            return .ready(
                Children(
                    slots: [.list(start: 1, count: Int32(items.count))] + items,
                    groups: [.init(ChangeBatch(page.changes, selection))]))
        }
    }
}

/// `Change.node`: the objects of all changes as they are now, with one statement for each type among them.
private struct ChangeNode: FieldLoader {
    let types: [RowType]

    func prepare(_ field: SelectedField) -> any PreparedLoad {
        let rows = field.selections.enumerated().compactMap { position, selection in
            types.first { $0.name == selection.type.name }.map {
                Rows(typename: $0.name, selection: position, byID: RowsByID($0, selection))
            }
        }
        return Prepared(rows: rows)
    }

    private struct Rows: Sendable {
        let typename: String
        /// The position of the type's selection in the field.
        let selection: Int
        let byID: RowsByID
    }

    private struct Prepared: RequestLoad {
        let rows: [Rows]

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: RequestContext
        ) throws(BookplateError) -> Load {
            guard let changes = (parents as? ChangeBatch)?.changes else { throw .internalError }
            var asked: [(rows: Rows, answer: RequestContext.PendingRows)] = []
            for rows in rows {
                let ids = Set(
                    changes.lazy.filter { $0.typename == rows.typename && $0.kind != "DELETED" }
                        .map(\.id))
                if !ids.isEmpty {
                    asked.append((rows, try rows.byID.query(Array(ids), in: request)))
                }
            }
            guard !asked.isEmpty else { return .ready(.null(parents.count)) }
            return .afterFlush { parents in
                request.children(of: parents) { () throws(BookplateError) in
                    var found: [String: [UUID: Slot]] = [:]
                    var groups: [Children.Group] = []
                    for (rows, answer) in asked {
                        let (batch, positions) = try rows.byID.batch(answer)
                        found[rows.typename] = positions.mapValues {
                            .object(group: Int32(groups.count), index: $0)
                        }
                        groups.append(.init(batch, selection: rows.selection))
                    }
                    let slots = changes.map { change in
                        change.kind == "DELETED"
                            ? .null : found[change.typename]?[change.id] ?? .null
                    }
                    return Children(slots: slots, groups: groups)
                }
            }
        }
    }
}
