import GraphQL
import GraphQLPostgres
import Postgres

/// `Query.node` and `Query.nodes`: any object by its id, whatever its type.
struct NodeLookup: FieldLoader {
    static let idsMax = 100

    /// The types that implement `Node`.
    let types: [RowType]
    let isList: Bool

    func prepare(_ field: SelectedField) -> any PreparedLoad {
        let rows = field.selections.enumerated().compactMap { position, selection in
            types.first { $0.name == selection.type.name }.map {
                (position, RowsByID($0, selection))
            }
        }
        return Prepared(isList: isList, rows: rows)
    }

    private struct Prepared: RequestLoad {
        let isList: Bool
        /// With the position of the type's selection in the field.
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
                throw .badUserInput(field: "ids", "At most \(NodeLookup.idsMax) ids at once.")
            }
            let ids = texts.map { UUID($0) }
            let known = ids.compactMap { $0 }
            var answers: [RequestContext.PendingRows] = []
            for (_, rows) in rows { answers.append(try rows.ask(known, in: request)) }
            return .afterFlush { parents in
                request.children(of: parents) { () throws(BookplateError) in
                    var found: [UUID: Slot] = [:]
                    var groups: [Children.Group] = []
                    for ((selection, rows), answer) in zip(rows, answers) {
                        let (batch, positions) = try rows.batch(answer)
                        for (id, index) in positions {
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
