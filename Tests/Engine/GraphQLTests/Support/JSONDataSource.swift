import GraphQL

/// Resolves every field from a tree of JSON values, so that a test states the data next to the
/// request.
///
/// The value of a field is the member of its parent object that has its name. An absent member is
/// null. The member `__typename` determines the type of a value of an abstract type. Two values have
/// a special meaning:
///
/// - `{"$error": "message"}` is an error of the field.
/// - `{"$arguments": true}` is the coerced arguments of the field as JSON text.
struct JSONDataSource: ResolverSource {
    let schema: Schema
    let loading: Loading

    /// How the data source provides the values of fields. The response must not depend on it.
    enum Loading: CaseIterable, Sendable {
        /// Every field has a loader that returns its values immediately.
        case immediate
        /// Leaves are written by the batch of their object. All other fields are loaded
        /// immediately.
        case properties
        /// Every field has a loader that returns its values after a flush.
        case afterFlush
        /// Like `afterFlush`, but fields that return one object are loaded speculatively. Lists
        /// cannot be loaded for a placeholder.
        case speculative
        /// Every field has a loader that returns its values asynchronously.
        case call
        /// Like `call`, but the calls of a level run at the same time.
        case concurrent
        /// Every field has a loader of two steps: a flush, and a concurrent call if the field is a list.
        case steps

        /// Whether deferred fields are delivered one by one.
        var deliversFieldsOneByOne: Bool { [.call, .concurrent, .steps].contains(self) }
    }

    func resolver(for field: FieldDefinition, of type: TypeDefinition) -> FieldResolver? {
        let isLeaf = field.type.isList ? false : schema.type(named: field.namedType)?.isLeaf == true
        if loading == .properties, isLeaf, field.arguments.isEmpty,
            ![schema.queryType, schema.mutationType].contains(where: { $0 === type })
        {
            return .property
        }
        return .load(JSONLoader(schema: schema, loading: loading))
    }
}

/// The context of a request to a `JSONDataSource`. Records what happens, in order: `Book.author × 2`
/// when a load is started for two books, `call Book.author` when an asynchronous load runs, and
/// `flush`.
final class RecordingContext: ExecutionContext {
    private(set) var events: [String] = []
    private(set) var needsFlush = false

    func record(_ event: String) { events.append(event) }

    func requestFlush() { needsFlush = true }

    func flush() async {
        events.append("flush")
        needsFlush = false
    }
}

/// JSON objects of one type, or JSON values of a leaf field.
final class JSONBatch: ObjectBatch {
    let values: [Value]
    /// Nil for leaves.
    private let selection: PlannedSelection?

    init(_ values: [Value], selection: PlannedSelection?) {
        self.values = values
        self.selection = selection
    }

    var count: Int { values.count }

    func write(field: Int, of object: Int, to writer: inout ResponseWriter) -> LeafResult {
        let value =
            selection.map { values[object][$0.fields[field].selected.name] ?? .null }
            ?? values[object]
        if value.isNull { return .null }
        if let message = value["$error"]?.string {
            // The executor must discard a part of a value that was written before the error.
            writer.append("[1,")
            return .error(FieldError(message))
        }
        writer.write(value)
        return .value
    }
}

/// An object of which nothing but its existence is known.
private final class Placeholder: ObjectBatch {
    let count = 1

    func write(field: Int, of object: Int, to writer: inout ResponseWriter) -> LeafResult {
        .error(FieldError("A placeholder was written."))
    }
}

private struct JSONLoader: FieldLoader {
    let schema: Schema
    let loading: JSONDataSource.Loading

    func prepare(_ field: SelectedField) -> any PreparedLoad {
        Prepared(schema: schema, loading: loading, field: field)
    }

    struct Prepared: PreparedLoad {
        let schema: Schema
        let loading: JSONDataSource.Loading
        let field: SelectedField

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues,
            in context: any ExecutionContext
        ) -> Load {
            let context = context as? RecordingContext
            let name = "\(field.parentType.name).\(field.name)"
            context?.record("\(name) × \(parents.count)")
            let children: (any ObjectBatch) -> Children = { parents in
                var completion = JSONCompletion(schema, field, arguments)
                let objects = (parents as? JSONBatch)?.values ?? []
                return completion.children(of: objects.map { $0[field.name] ?? .null })
            }
            switch loading {
            case .immediate, .properties:
                return .ready(children(parents))
            case .call:
                return .call {
                    context?.record("call \(name)")
                    return children(parents)
                }
            case .concurrent:
                return .concurrent(
                    ConcurrentCall {
                    } finish: {
                        children(parents)
                    })
            case .steps:
                context?.requestFlush()
                let isList = field.definition.type.isList
                return .afterFlushThen { parents in
                    isList
                        ? .concurrent(
                            ConcurrentCall {
                            } finish: {
                                children(parents)
                            })
                        : .ready(children(parents))
                }
            case .speculative where parents is Placeholder && field.definition.type.isList:
                return .needsParents
            case .speculative
            where parents.count == 1 && field.selections.count == 1
                && !field.definition.type.isList:
                context?.requestFlush()
                return .speculative(placeholder: Placeholder(), children)
            case .afterFlush, .speculative:
                context?.requestFlush()
                return .afterFlush(children)
            }
        }
    }
}

/// Converts the JSON values of one field to slots.
private struct JSONCompletion {
    private let schema: Schema
    private let field: SelectedField
    private let arguments: ArgumentValues
    private var slots: [Slot] = []
    private var errors: [FieldError] = []
    /// The values for each of the field's selections. Leaves have one group.
    private var groups: [[Value]]

    init(_ schema: Schema, _ field: SelectedField, _ arguments: ArgumentValues) {
        self.schema = schema
        self.field = field
        self.arguments = arguments
        groups = Array(repeating: [], count: max(1, field.selections.count))
    }

    mutating func children(of values: [Value]) -> Children {
        // The slots of the parents come first. Lists append the slots of their items.
        slots = Array(repeating: .null, count: values.count)
        for (index, value) in values.enumerated() {
            slots[index] = slot(for: value, of: field.definition.type)
        }
        let batches = groups.enumerated().map { index, values in
            Children.Group(
                JSONBatch(
                    values, selection: field.selections.isEmpty ? nil : field.selections[index]),
                selection: index)
        }
        return Children(slots: slots, groups: batches, errors: errors)
    }

    private mutating func slot(for value: Value, of type: TypeReference) -> Slot {
        if case .nonNull(let inner, _) = type { return slot(for: value, of: inner) }
        if value.isNull { return .null }
        if let message = value["$error"]?.string { return error(message) }
        if case .list(let itemType, _) = type {
            guard let items = value.list else { return error("The value is not a list.") }
            let itemSlots = items.map { slot(for: $0, of: itemType) }
            defer { slots += itemSlots }
            return .list(start: Int32(slots.count), count: Int32(itemSlots.count))
        }
        guard let definition = schema.type(named: type.namedType) else { return .null }
        if value["$arguments"] != nil {
            return add(.string(jsonText(.object(arguments.members))), 0)
        }
        guard definition.isAbstract else { return add(value, 0) }
        let name = value["__typename"]?.string
        guard let group = field.selections.firstIndex(where: { $0.type.name == name }) else {
            return error("The value has no possible type of \(definition.name).")
        }
        return add(value, group)
    }

    private mutating func add(_ value: Value, _ group: Int) -> Slot {
        groups[group].append(value)
        return .object(group: Int32(group), index: Int32(groups[group].count - 1))
    }

    private mutating func error(_ message: String) -> Slot {
        errors.append(FieldError(message))
        return .error(Int32(errors.count - 1))
    }
}

extension TypeReference {
    /// Whether the type is a list, nullable or not.
    fileprivate var isList: Bool {
        switch self {
        case .named: false
        case .list: true
        case .nonNull(let inner, _): inner.isList
        }
    }
}
