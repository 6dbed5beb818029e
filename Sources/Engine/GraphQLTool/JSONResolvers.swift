import GraphQL

/// Resolves every field to the member of the parent JSON object that has its name.
///
/// An absent member is null. `{"$error": "message"}` is an error. `{"$args": true}` is the coerced
/// arguments of the field as JSON text. `__typename` determines the type of an abstract value.
struct JSONResolvers: ResolverSource {
    let schema: Schema

    func resolver(for field: FieldDefinition, of type: TypeDefinition) -> FieldResolver? {
        .load(JSONLoader(schema: schema))
    }
}

/// A context for loads that never wait for a flush.
final class EmptyContext: ExecutionContext {
    let needsFlush = false
    func flush() async {}
}

/// JSON values of one type for one planned selection: objects, or leaves to be written as they are.
final class JSONBatch: ObjectBatch {
    let values: [Value]

    init(_ values: [Value]) { self.values = values }

    var count: Int { values.count }

    func write(field: Int, of object: Int, to writer: inout ResponseWriter) -> LeafResult {
        writer.write(values[object])
        return .value
    }
}

private struct JSONLoader: FieldLoader {
    let schema: Schema

    func prepare(_ field: SelectedField) -> any PreparedLoad {
        PreparedJSONLoad(schema: schema, field: field)
    }
}

private struct PreparedJSONLoad: PreparedLoad {
    let schema: Schema
    let field: SelectedField

    func start(
        for parents: any ObjectBatch, arguments: ArgumentValues, in context: any ExecutionContext
    ) -> Load {
        let objects = (parents as? JSONBatch)?.values ?? []
        var completion = JSONCompletion(schema: schema, field: field, arguments: arguments)
        return .ready(completion.children(of: objects.map { $0[field.name] ?? .null }))
    }
}

/// Converts the JSON values of one field to slots.
private struct JSONCompletion {
    let schema: Schema
    let field: SelectedField
    let arguments: ArgumentValues
    private var slots: [Slot] = []
    private var errors: [FieldError] = []
    /// The values for each of the field's selections. Leaves have one group.
    private var groups: [[Value]]

    init(schema: Schema, field: SelectedField, arguments: ArgumentValues) {
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
        let batches = groups.enumerated().map {
            Children.Group(JSONBatch($0.element), selection: $0.offset)
        }
        return Children(slots: slots, groups: batches, errors: errors)
    }

    private mutating func slot(for value: Value, of type: TypeReference) -> Slot {
        if case .nonNull(let inner, _) = type { return slot(for: value, of: inner) }
        if value.isNull { return .null }
        if let message = value["$error"]?.string { return error(message) }
        if case .list(let itemType, _) = type {
            guard let items = value.list else {
                return error(
                    "Expected Iterable, but did not find one for field \"\(fieldCoordinate)\".")
            }
            let itemSlots = items.map { slot(for: $0, of: itemType) }
            defer { slots += itemSlots }
            return .list(start: Int32(slots.count), count: Int32(itemSlots.count))
        }
        guard let definition = schema.type(named: type.namedType) else { return .null }
        return definition.isLeaf
            ? leaf(value, of: definition) : object(value, of: definition)
    }

    private mutating func leaf(_ value: Value, of type: TypeDefinition) -> Slot {
        if value["$args"]?.boolean == true {
            return add(.string(Value.object(arguments.members).json), to: 0)
        }
        switch serialize(value, as: type) {
        case .success(let value): return add(value, to: 0)
        case .failure(let error): return self.error(error.message)
        }
    }

    private mutating func object(_ value: Value, of type: TypeDefinition) -> Slot {
        guard type.isAbstract else { return add(value, to: 0) }
        guard let name = value["__typename"]?.string else {
            return error(
                "Abstract type \"\(type.name)\" must resolve to an Object type at runtime for field "
                    + "\"\(fieldCoordinate)\": its value has no \"__typename\".")
        }
        if let index = field.selections.firstIndex(where: { $0.type.name == name }) {
            return add(value, to: index)
        }
        guard let found = schema.type(named: name) else {
            return error(
                "Abstract type \"\(type.name)\" was resolved to a type \"\(name)\" that does not exist "
                    + "inside the schema.")
        }
        guard case .object = found.kind else {
            return error(
                "Abstract type \"\(type.name)\" was resolved to a non-object type \"\(name)\".")
        }
        return error("Runtime Object type \"\(name)\" is not a possible type for \"\(type.name)\".")
    }

    private var fieldCoordinate: String { "\(field.parentType.name).\(field.name)" }

    private mutating func add(_ value: Value, to group: Int) -> Slot {
        groups[group].append(value)
        return .object(group: Int32(group), index: Int32(groups[group].count - 1))
    }

    private mutating func error(_ message: String) -> Slot {
        errors.append(FieldError(message))
        return .error(Int32(errors.count - 1))
    }
}
