import GraphQL
import Postgres

/// One page of rows for each parent, as the objects of a connection type.
///
/// Its rows are read by every selection below it: `nodes`, and `node` of `edges`.
///
/// Spec: https://relay.dev/graphql/connections.htm
final class ConnectionBatch: ObjectBatch {
    struct Page {
        /// The page's places in `order`.
        var rows: Range<Int32>
        var hasNextPage: Bool
        var hasPreviousPage: Bool
        /// How many there are without paging, where that was asked.
        var totalCount: Int?
    }

    let rows: Rows
    let pages: [Page]
    let layouts: ConnectionLayouts
    /// The cursor of a place, opaque to clients.
    let cursor: (_ place: Int) -> String
    /// The row at each place; nil where they are in order already.
    private let order: [Int32]?
    private let selection: PlannedSelection

    init(
        _ rows: Rows, pages: [Page], order: [Int32]? = nil, layouts: ConnectionLayouts,
        selection: PlannedSelection, cursor: @escaping (_ place: Int) -> String
    ) {
        self.rows = rows
        self.pages = pages
        self.order = order
        self.layouts = layouts
        self.selection = selection
        self.cursor = cursor
    }

    var count: Int { pages.count }

    func write(field: Int, of object: Int, to writer: inout ResponseWriter) -> LeafResult {
        guard selection.fields[field].selected.name == "totalCount",
            let totalCount = pages[object].totalCount
        else { return .null }
        writer.write(totalCount)
        return .value
    }

    /// Lists of the pages' places, as slots into a batch that holds just those, in order.
    fileprivate func lists() -> (slots: [Slot], places: [Int32]) {
        var slots: [Slot] = []
        var items: [Slot] = []
        var places: [Int32] = []
        for page in pages {
            slots.append(
                .list(start: Int32(pages.count + items.count), count: Int32(page.rows.count)))
            for place in page.rows {
                items.append(.object(group: 0, index: Int32(places.count)))
                places.append(place)
            }
        }
        return (slots + items, places)
    }

    /// The rows at the places, as objects of a selection below.
    fileprivate func batch(
        _ places: [Int32], for selection: PlannedSelection
    ) throws(BookplateError) -> RowBatch {
        guard let layout = layouts.layout(for: selection) else { throw .internalError }
        return RowBatch(
            rows, layout, selecting: order.map { order in places.map { order[Int($0)] } } ?? places)
    }
}

/// How the selections below a connection field read its rows. Made once per plan.
final class ConnectionLayouts: Sendable {
    /// By the identity of the selection that is asked of the rows.
    private let layouts: [ObjectIdentifier: RowLayout]
    let wantsTotalCount: Bool

    init(_ field: SelectedField, of type: RowType, columns: inout ColumnSet) {
        var layouts: [ObjectIdentifier: RowLayout] = [:]
        var wantsTotalCount = false
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
            case "totalCount": wantsTotalCount = true
            default: continue
            }
        }
        self.layouts = layouts
        self.wantsTotalCount = wantsTotalCount
    }

    func layout(for selection: PlannedSelection) -> RowLayout? {
        layouts[ObjectIdentifier(selection)]
    }
}

/// `nodes`, `edges`, `node` and `pageInfo`: read from the page that is there already.
struct ConnectionField: FieldLoader {
    enum Part: Sendable {
        case nodes, edges, node, pageInfo
    }

    let part: Part

    func prepare(_ field: SelectedField) -> any PreparedLoad {
        Prepared(part: part, selection: field.selections[0])
    }

    private struct Prepared: RequestLoad {
        let part: Part
        let selection: PlannedSelection

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: RequestContext
        ) throws(BookplateError) -> Load {
            switch part {
            case .nodes:
                guard let parents = parents as? ConnectionBatch else { throw .internalError }
                let (slots, places) = parents.lists()
                let batch = try parents.batch(places, for: selection)
                return .ready(Children(slots: slots, groups: [.init(batch)]))
            case .edges:
                guard let parents = parents as? ConnectionBatch else { throw .internalError }
                let (slots, places) = parents.lists()
                let edges = EdgeBatch(parents, places, selection)
                return .ready(Children(slots: slots, groups: [.init(edges)]))
            case .node:
                guard let parents = parents as? EdgeBatch else { throw .internalError }
                return .ready(
                    .each(of: try parents.connection.batch(parents.places, for: selection)))
            case .pageInfo:
                guard let parents = parents as? ConnectionBatch else { throw .internalError }
                return .ready(.each(of: PageInfoBatch(parents, selection)))
            }
        }
    }
}

private final class EdgeBatch: ObjectBatch {
    let connection: ConnectionBatch
    let places: [Int32]
    private let selection: PlannedSelection

    init(_ connection: ConnectionBatch, _ places: [Int32], _ selection: PlannedSelection) {
        self.connection = connection
        self.places = places
        self.selection = selection
    }

    var count: Int { places.count }

    func write(field: Int, of object: Int, to writer: inout ResponseWriter) -> LeafResult {
        guard selection.fields[field].selected.name == "cursor" else { return .null }
        writer.write(connection.cursor(Int(places[object])))
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
            guard let first = page.rows.first else { return .null }
            writer.write(connection.cursor(Int(first)))
        case "endCursor":
            guard let last = page.rows.last else { return .null }
            writer.write(connection.cursor(Int(last)))
        default: return .null
        }
        return .value
    }
}
