import GraphQL
import GraphQLPostgres
import Postgres

/// An object that is not a row. Mutations return such objects.
package struct PlainObject {
    /// The values of leaf fields by field name. Missing values are null.
    package var leaves: [String: Value] = [:]
    /// The IDs of the rows of object fields, by field name.
    package var ids: [String: [UUID]] = [:]
    /// The plain objects of object fields, by field name.
    package var objects: [String: [PlainObject]] = [:]

    package init(
        leaves: [String: Value] = [:], ids: [String: [UUID]] = [:],
        objects: [String: [PlainObject]] = [:]
    ) {
        self.leaves = leaves
        self.ids = ids
        self.objects = objects
    }
}

/// Plain objects as the result of a field.
package final class PlainBatch: ObjectBatch {
    package let objects: [PlainObject]
    private let selection: PlannedSelection

    package init(_ objects: [PlainObject], _ selection: PlannedSelection) {
        self.objects = objects
        self.selection = selection
    }

    package var count: Int { objects.count }

    package func write(field: Int, of object: Int, to writer: inout ResponseWriter) -> LeafResult {
        guard let value = objects[object].leaves[selection.fields[field].selected.name],
            !value.isNull
        else { return .null }
        writer.write(value)
        return .value
    }
}

/// Leaf values that a mutation or a list field returns.
package final class LeafBatch: ObjectBatch {
    private let values: [Value]

    package init(_ values: [Value]) { self.values = values }

    package var count: Int { values.count }

    package func write(field: Int, of object: Int, to writer: inout ResponseWriter) -> LeafResult {
        if values[object].isNull { return .null }
        writer.write(values[object])
        return .value
    }
}

/// A field of plain objects that returns the rows with the IDs in `PlainObject.ids`, for example `RecordSwipesPayload.saved`.
package struct RowsOfPlainObject: FieldLoader {
    let type: RowType
    let shape: RowRelation.Shape

    package init(_ shape: RowRelation.Shape, _ type: RowType) {
        self.type = type
        self.shape = shape
    }

    package func prepare(_ field: SelectedField) -> any PreparedLoad {
        Prepared(
            name: field.name, shape: shape, rows: RowsByID(type, field.selections[0]))
    }

    private struct Prepared: RequestLoad {
        let name: String
        let shape: RowRelation.Shape
        let rows: RowsByID

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: RequestContext
        ) throws(BookplateError) -> Load {
            let ids = (parents as? PlainBatch)?.objects.map { $0.ids[name] ?? [] } ?? []
            if ids.allSatisfy(\.isEmpty) {
                let empty = shape == .one ? Slot.null : .list(start: 0, count: 0)
                return .ready(
                    Children(slots: Array(repeating: empty, count: parents.count), groups: []))
            }
            let pending = try rows.query(ids.flatMap { $0 }, in: request)
            return .afterFlush { parents in
                request.children(of: parents) { () throws(BookplateError) in
                    let (batch, indices) = try rows.batch(pending)
                    var slots: [Slot] = []
                    var items: [Slot] = []
                    for ids in ids {
                        let found = ids.compactMap { indices[$0] }
                            .map { Slot.object(group: 0, index: $0) }
                        switch shape {
                        case .one:
                            slots.append(found.first ?? .null)
                        case .many:
                            slots.append(
                                .list(
                                    start: Int32(parents.count + items.count),
                                    count: Int32(found.count)))
                            items += found
                        }
                    }
                    return Children(slots: slots + items, groups: [.init(batch)])
                }
            }
        }
    }
}

/// A field of plain objects that returns the plain objects in `PlainObject.objects`.
package struct PlainObjectsField: FieldLoader {
    let shape: RowRelation.Shape

    package init(_ shape: RowRelation.Shape) { self.shape = shape }

    package func prepare(_ field: SelectedField) -> any PreparedLoad {
        Prepared(name: field.name, shape: shape, selection: field.selections[0])
    }

    private struct Prepared: RequestLoad {
        let name: String
        let shape: RowRelation.Shape
        let selection: PlannedSelection

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: RequestContext
        ) -> Load {
            var slots: [Slot] = []
            var items: [Slot] = []
            var children: [PlainObject] = []
            for parent in (parents as? PlainBatch)?.objects ?? [] {
                let found = parent.objects[name] ?? []
                let first = Int32(children.count)
                children += found
                switch shape {
                case .one:
                    slots.append(found.isEmpty ? .null : .object(group: 0, index: first))
                case .many:
                    slots.append(
                        .list(
                            start: Int32(parents.count + items.count), count: Int32(found.count)))
                    items += found.indices.map { .object(group: 0, index: first + Int32($0)) }
                }
            }
            return .ready(
                Children(slots: slots + items, groups: [.init(PlainBatch(children, selection))]))
        }
    }
}
