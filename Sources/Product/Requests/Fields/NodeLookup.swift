import GraphQL
import GraphQLPostgres
import Postgres

/// The fields `Query.node` and `Query.nodes`, which return objects of any type by ID.
package struct NodeLookup: FieldLoader {
    /// The maximum number of IDs of `Query.nodes`.
    static let idsMax = 100

    /// The types that implement `Node`.
    package let types: [RowType]
    /// Whether the field is `Query.nodes`.
    package let isList: Bool

    package init(types: [RowType], isList: Bool) {
        self.types = types
        self.isList = isList
    }

    package func prepare(_ field: SelectedField) -> any PreparedLoad {
        let rows = field.selections.enumerated().compactMap { index, selection in
            types.first { $0.name == selection.type.name }.map {
                (index, RowsByID($0, selection))
            }
        }
        return Prepared(isList: isList, rows: rows)
    }

    private struct Prepared: RequestLoad {
        let isList: Bool
        /// For each type, the index of its selection in the field.
        let rows: [(selection: Int, rows: RowsByID)]

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: RequestContext
        ) throws(BookplateError) -> Load {
            _ = try request.caller()
            let texts =
                isList
                ? arguments["ids"]?.list?.map { $0.string ?? "" } ?? []
                : [arguments["id"]?.string ?? ""]
            guard texts.count <= NodeLookup.idsMax else {
                throw .badUserInput(field: "ids", .init(.tooMany, max: NodeLookup.idsMax))
            }
            let ids = texts.map { UUID($0) }
            let known = ids.compactMap { $0 }
            var pending: [RequestContext.PendingRows] = []
            for (_, rows) in rows { pending.append(try rows.query(known, in: request)) }
            return .afterFlush { parents in
                request.children(of: parents) { () throws(BookplateError) in
                    var found: [UUID: Slot] = [:]
                    var groups: [Children.Group] = []
                    for ((selection, rows), pendingRows) in zip(rows, pending) {
                        let (batch, indices) = try rows.batch(pendingRows)
                        for (id, index) in indices {
                            found[id] = .object(group: Int32(groups.count), index: index)
                        }
                        groups.append(.init(batch, selection: selection))
                    }
                    let slots = ids.map { id in id.flatMap { found[$0] } ?? .null }
                    return Children(
                        slots: isList
                            ? [.list(start: 1, count: Int32(slots.count))] + slots : slots,
                        groups: groups)
                }
            }
        }
    }
}
