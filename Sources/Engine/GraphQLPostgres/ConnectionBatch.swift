import GraphQL
import Postgres

/// The objects of a connection type: one page of rows for each parent.
///
/// The selections below it (`nodes`, and `node` of `edges`) read the rows that this batch holds, without another
/// statement.
///
/// Spec: https://relay.dev/graphql/connections.htm
package final class ConnectionBatch: ObjectBatch {
    package struct Page {
        /// The positions of the page's rows in the order of the list.
        package var positions: Range<Int32>
        package var hasNextPage: Bool
        package var hasPreviousPage: Bool
        /// The number of rows on all pages; nil if it was not requested.
        package var totalCount: Int?

        package init(
            positions: Range<Int32>, hasNextPage: Bool, hasPreviousPage: Bool,
            totalCount: Int? = nil
        ) {
            self.positions = positions
            self.hasNextPage = hasNextPage
            self.hasPreviousPage = hasPreviousPage
            self.totalCount = totalCount
        }
    }

    let rows: Rows
    let pages: [Page]
    let layouts: ConnectionLayouts
    /// Returns the opaque cursor of a position.
    let cursor: (_ position: Int) -> String
    /// The index of the row at each position; nil if the rows are in the order of the list.
    private let order: [Int32]?
    private let selection: PlannedSelection
    /// Writes a field that only this connection type has; nil without any.
    private let writeOther: ((_ field: String, inout ResponseWriter) -> LeafResult)?

    package init(
        _ rows: Rows, pages: [Page], order: [Int32]? = nil, layouts: ConnectionLayouts,
        selection: PlannedSelection,
        writeOther: ((_ field: String, inout ResponseWriter) -> LeafResult)? = nil,
        cursor: @escaping (_ position: Int) -> String
    ) {
        self.rows = rows
        self.pages = pages
        self.order = order
        self.layouts = layouts
        self.selection = selection
        self.writeOther = writeOther
        self.cursor = cursor
    }

    package var count: Int { pages.count }

    package func write(
        field: Int, of object: Int, to writer: inout ResponseWriter
    ) -> LeafResult {
        let name = selection.fields[field].selected.name
        guard name == "totalCount" else { return writeOther?(name, &writer) ?? .null }
        guard let totalCount = pages[object].totalCount else { return .null }
        writer.write(totalCount)
        return .value
    }

    /// Returns one list per page, and the positions that the list items refer to.
    ///
    /// Item n of the slots refers to object n of a batch that contains the rows at exactly these positions.
    fileprivate func lists() -> (slots: [Slot], positions: [Int32]) {
        var slots: [Slot] = []
        var items: [Slot] = []
        var positions: [Int32] = []
        for page in pages {
            slots.append(
                .list(start: Int32(pages.count + items.count), count: Int32(page.positions.count)))
            for position in page.positions {
                items.append(.object(group: 0, index: Int32(positions.count)))
                positions.append(position)
            }
        }
        return (slots + items, positions)
    }

    /// Returns the rows at the positions as objects of a selection below this connection.
    fileprivate func batch(
        _ positions: [Int32], for selection: PlannedSelection
    ) throws -> RowBatch {
        guard let layout = layouts.layout(for: selection) else { throw RowError.unexpectedParents }
        return RowBatch(
            rows, layout,
            selecting: order.map { order in positions.map { order[Int($0)] } } ?? positions)
    }
}

/// The layouts of the selections below a connection field. Made once per plan.
package final class ConnectionLayouts: Sendable {
    /// The layouts by the identity of their selection.
    private let layouts: [ObjectIdentifier: RowLayout]
    /// Whether `totalCount` is selected.
    package let selectsTotalCount: Bool

    package init(_ field: SelectedField, of type: RowType, columns: inout ColumnSet) {
        var layouts: [ObjectIdentifier: RowLayout] = [:]
        var selectsTotalCount = false
        func add(_ field: PlannedField) {
            let selection = field.selected.selections[0]
            layouts[ObjectIdentifier(selection)] =
                RowLayout(selection, of: type, columns: &columns)
        }
        for field in field.selections[0].fields {
            switch field.selected.name {
            case "nodes": add(field)
            case "edges":
                for edgeField in field.selected.selections[0].fields
                where edgeField.selected.name == "node" {
                    add(edgeField)
                }
            case "totalCount": selectsTotalCount = true
            default: continue
            }
        }
        self.layouts = layouts
        self.selectsTotalCount = selectsTotalCount
    }

    func layout(for selection: PlannedSelection) -> RowLayout? {
        layouts[ObjectIdentifier(selection)]
    }
}

/// The object fields of a connection and its edges, read from the page that the connection field has loaded.
package struct ConnectionField: FieldLoader {
    package enum Part: Sendable {
        case nodes, edges, node, pageInfo
    }

    let part: Part

    /// The resolvers of a connection type by field name, to return from a `ResolverSource`.
    package static let connectionResolvers: [String: FieldResolver] = [
        "edges": .load(ConnectionField(part: .edges)),
        "nodes": .load(ConnectionField(part: .nodes)),
        "pageInfo": .load(ConnectionField(part: .pageInfo)),
        "totalCount": .property,
    ]

    /// The resolvers of an edge type by field name.
    package static let edgeResolvers: [String: FieldResolver] = [
        "cursor": .property, "node": .load(ConnectionField(part: .node)),
    ]

    /// The resolvers of the type `PageInfo` by field name.
    package static let pageInfoResolvers: [String: FieldResolver] = [
        "hasNextPage": .property, "hasPreviousPage": .property, "startCursor": .property,
        "endCursor": .property,
    ]

    package func prepare(_ field: SelectedField) -> any PreparedLoad {
        Prepared(part: part, selection: field.selections[0])
    }

    private struct Prepared: RowLoad {
        let part: Part
        let selection: PlannedSelection

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: any RowContext
        ) throws -> Load {
            switch part {
            case .nodes:
                guard let parents = parents as? ConnectionBatch else {
                    throw RowError.unexpectedParents
                }
                let (slots, positions) = parents.lists()
                let batch = try parents.batch(positions, for: selection)
                return .ready(Children(slots: slots, groups: [.init(batch)]))
            case .edges:
                guard let parents = parents as? ConnectionBatch else {
                    throw RowError.unexpectedParents
                }
                let (slots, positions) = parents.lists()
                let edges = EdgeBatch(parents, positions, selection)
                return .ready(Children(slots: slots, groups: [.init(edges)]))
            case .node:
                guard let parents = parents as? EdgeBatch else { throw RowError.unexpectedParents }
                return .ready(
                    .each(of: try parents.connection.batch(parents.positions, for: selection)))
            case .pageInfo:
                guard let parents = parents as? ConnectionBatch else {
                    throw RowError.unexpectedParents
                }
                return .ready(.each(of: PageInfoBatch(parents, selection)))
            }
        }
    }
}

private final class EdgeBatch: ObjectBatch {
    let connection: ConnectionBatch
    let positions: [Int32]
    private let selection: PlannedSelection

    init(_ connection: ConnectionBatch, _ positions: [Int32], _ selection: PlannedSelection) {
        self.connection = connection
        self.positions = positions
        self.selection = selection
    }

    var count: Int { positions.count }

    func write(field: Int, of object: Int, to writer: inout ResponseWriter) -> LeafResult {
        guard selection.fields[field].selected.name == "cursor" else { return .null }
        writer.write(connection.cursor(Int(positions[object])))
        return .value
    }
}

private final class PageInfoBatch: ObjectBatch {
    private let connection: ConnectionBatch
    private let selection: PlannedSelection

    init(_ connection: ConnectionBatch, _ selection: PlannedSelection) {
        self.connection = connection
        self.selection = selection
    }

    var count: Int { connection.count }

    func write(field: Int, of object: Int, to writer: inout ResponseWriter) -> LeafResult {
        let page = connection.pages[object]
        switch selection.fields[field].selected.name {
        case "hasNextPage": writer.write(page.hasNextPage)
        case "hasPreviousPage": writer.write(page.hasPreviousPage)
        case "startCursor":
            guard let first = page.positions.first else { return .null }
            writer.write(connection.cursor(Int(first)))
        case "endCursor":
            guard let last = page.positions.last else { return .null }
            writer.write(connection.cursor(Int(last)))
        default: return .null
        }
        return .value
    }
}
