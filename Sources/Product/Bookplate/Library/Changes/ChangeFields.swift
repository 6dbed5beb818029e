import GraphQL
import GraphQLPostgres
import Postgres
import Requests

/// Loads `Query.changes`: a page of the change log of the caller's library.
struct Changes: FieldLoader {
    /// The maximum number of changes of a page.
    static let firstMax = 500

    static let pageFields: [String: FieldResolver] = [
        "changes": .load(ChangesOfPage()), "pageInfo": .load(PageInfoOfChanges()),
        "resetRequired": .property,
    ]

    /// - Parameter nodes: The types whose changes are logged.
    static func changeFields(nodes: [RowType]) -> [String: FieldResolver] {
        [
            "cursor": .property, "kind": .property, "typename": .property,
            "nodeId": .property, "changedAt": .property, "node": .load(ChangeNode(types: nodes)),
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
            let cursor = try arguments["after"]?.string.map(cursor) ?? .start
            let first = arguments["first"]?.int ?? 100
            guard (1...Changes.firstMax).contains(first) else {
                throw .badUserInput(
                    field: "first", .init(.outOfRange, min: 1, max: Changes.firstMax))
            }
            let pending = request.query(
                ChangePage.select.statement,
                ChangePage.parameters(userID, after: cursor, first: first))
            return .afterFlush { parents in
                request.children(of: parents) { () throws(BookplateError) in
                    let rows = try pending.rows().decode(ChangePage.Row.self)
                    let page = ChangePage(rows, after: cursor, first: first)
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
        case "resetRequired": writer.write(page.resetRequired)
        default: return .null
        }
        return .value
    }
}

/// Loads `ChangePage.changes`, which the page has in memory.
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
            return .ready(.list(of: ChangeBatch(page.changes, selection)))
        }
    }
}

/// Loads `ChangePage.pageInfo`.
private struct PageInfoOfChanges: FieldLoader {
    func prepare(_ field: SelectedField) -> any PreparedLoad {
        Prepared(selection: field.selections[0])
    }

    private struct Prepared: RequestLoad {
        let selection: PlannedSelection

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: RequestContext
        ) throws(BookplateError) -> Load {
            guard let page = (parents as? ChangePageBatch)?.page else { throw .internalError }
            var leaves: [String: Value] = [
                "hasNextPage": .boolean(page.hasMore),
                "hasPreviousPage": .boolean(page.hasPreviousPage),
                "endCursor": .string(page.cursor.text),
            ]
            if let first = page.changes.first {
                leaves["startCursor"] = .string(first.cursor.text)
            }
            return .ready(.each(of: PlainBatch([PlainObject(leaves: leaves)], selection)))
        }
    }
}

/// Loads `Change.node`, the current state of each changed object, with one statement for each type.
private struct ChangeNode: FieldLoader {
    let types: [RowType]

    func prepare(_ field: SelectedField) -> any PreparedLoad {
        let nodeTypes = field.selections.enumerated().compactMap { index, selection in
            types.first { $0.name == selection.type.name }.map {
                NodeType(name: $0.name, selection: index, byID: RowsByID($0, selection))
            }
        }
        return Prepared(types: nodeTypes)
    }

    /// A type that the field can return.
    private struct NodeType: Sendable {
        let name: String
        /// The index of the type's selection in the field.
        let selection: Int
        let byID: RowsByID
    }

    private struct Prepared: RequestLoad {
        let types: [NodeType]

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: RequestContext
        ) throws(BookplateError) -> Load {
            guard let changes = (parents as? ChangeBatch)?.changes else { throw .internalError }
            var queries: [(type: NodeType, pending: RequestContext.PendingRows)] = []
            for type in types {
                let ids = Set(
                    changes.lazy.filter { $0.typename == type.name && $0.kind != "DELETED" }
                        .map(\.id))
                if !ids.isEmpty {
                    queries.append((type, try type.byID.query(Array(ids), in: request)))
                }
            }
            guard !queries.isEmpty else { return .ready(.null(parents.count)) }
            return .afterFlush { parents in
                request.children(of: parents) { () throws(BookplateError) in
                    var found: [String: [UUID: Slot]] = [:]
                    var groups: [Children.Group] = []
                    for (type, pending) in queries {
                        let (batch, indices) = try type.byID.batch(pending)
                        found[type.name] = indices.mapValues {
                            .object(group: Int32(groups.count), index: $0)
                        }
                        groups.append(.init(batch, selection: type.selection))
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
