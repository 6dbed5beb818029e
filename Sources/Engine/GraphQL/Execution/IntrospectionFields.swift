/// Resolves `__typename`, `__schema`, `__type` and the fields of the introspection types.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Introspection
extension Schema {
    func introspectionResolver(
        for field: FieldDefinition, of type: TypeDefinition
    ) -> FieldResolver? {
        if field === IntrospectionTypes.typenameField { return .property }
        guard
            field === IntrospectionTypes.schemaField || field === IntrospectionTypes.typeField
                || type.name.hasPrefix("__")
        else { return nil }
        // The batch writes leaves. Objects and lists of objects are loaded from memory.
        let isLeaf = self.type(named: field.type.namedType)?.isLeaf ?? true
        return isLeaf ? .property : .load(IntrospectionLoader(schema: self))
    }
}

/// An element of a schema as an object of an introspection type.
private enum IntrospectedElement {
    case root
    case schema
    case type(TypeReference)
    case field(FieldDefinition)
    case inputValue(InputValueDefinition)
    case enumValue(EnumValueDefinition)
    case directive(DirectiveDefinition)
}

private final class IntrospectionBatch: ObjectBatch {
    let objects: [IntrospectedElement]
    private let selection: PlannedSelection
    private let schema: Schema

    init(_ objects: [IntrospectedElement], _ selection: PlannedSelection, _ schema: Schema) {
        self.objects = objects
        self.selection = selection
        self.schema = schema
    }

    var count: Int { objects.count }
    var boundSelection: PlannedSelection? { selection }

    func write(field: Int, of object: Int, to writer: inout ResponseWriter) -> LeafResult {
        let name = selection.fields[field].selected.name
        switch objects[object] {
        case .root:
            return .null
        case .schema:
            return writer.writeOptional(schema.description)
        case .type(let type):
            return write(name, ofType: type, to: &writer)
        case .field(let field):
            return write(
                name, field.name, field.description, field.deprecationReason, to: &writer)
        case .enumValue(let value):
            return write(
                name, value.name, value.description, value.deprecationReason, to: &writer)
        case .inputValue(let value):
            if name == "defaultValue" {
                return writer.writeOptional(value.defaultValue.map { print($0) })
            }
            return write(
                name, value.name, value.description, value.deprecationReason, to: &writer)
        case .directive(let directive):
            switch name {
            case "isRepeatable": writer.write(directive.isRepeatable)
            case "locations":
                writer.write(.list(directive.locations.map { .string($0.rawValue) }))
            default: return write(name, directive.name, directive.description, nil, to: &writer)
            }
            return .value
        }
    }

    private func write(
        _ field: String, _ name: String, _ description: String?, _ deprecationReason: String?,
        to writer: inout ResponseWriter
    ) -> LeafResult {
        switch field {
        case "name":
            writer.write(name)
            return .value
        case "description": return writer.writeOptional(description)
        case "isDeprecated":
            writer.write(deprecationReason != nil)
            return .value
        case "deprecationReason": return writer.writeOptional(deprecationReason)
        default: return .null
        }
    }

    private func write(
        _ field: String, ofType type: TypeReference, to writer: inout ResponseWriter
    ) -> LeafResult {
        guard case .named(let name) = type, let definition = schema.type(named: name.value) else {
            guard field == "kind" else { return .null }
            if case .list = type { writer.write("LIST") } else { writer.write("NON_NULL") }
            return .value
        }
        switch field {
        case "kind":
            writer.write(definition.kind.introspectionName)
            return .value
        case "name":
            writer.write(definition.name)
            return .value
        case "description": return writer.writeOptional(definition.description)
        case "specifiedByURL":
            guard case .scalar(let url) = definition.kind else { return .null }
            return writer.writeOptional(url)
        case "isOneOf":
            guard case .inputObject(let object) = definition.kind else { return .null }
            writer.write(object.isOneOf)
            return .value
        default: return .null
        }
    }
}

extension TypeDefinition.Kind {
    /// Spec: https://spec.graphql.org/September2025/#sec-Type-Kinds
    var introspectionName: String {
        switch self {
        case .scalar: "SCALAR"
        case .object: "OBJECT"
        case .interface: "INTERFACE"
        case .union: "UNION"
        case .enumeration: "ENUM"
        case .inputObject: "INPUT_OBJECT"
        }
    }
}

extension ResponseWriter {
    fileprivate mutating func writeOptional(_ text: String?) -> LeafResult {
        guard let text else { return .null }
        write(text)
        return .value
    }
}

private struct IntrospectionLoader: FieldLoader {
    let schema: Schema

    func prepare(_ field: SelectedField) -> any PreparedLoad {
        PreparedIntrospectionLoad(schema: schema, field: field)
    }
}

private struct PreparedIntrospectionLoad: PreparedLoad {
    let schema: Schema
    let field: SelectedField

    /// The value of a field for one object.
    private enum FieldValue {
        case none
        case one(IntrospectedElement)
        case many([IntrospectedElement])
    }

    func start(
        for parents: any ObjectBatch, arguments: ArgumentValues, in context: any ExecutionContext
    ) -> Load {
        let objects = (parents as? IntrospectionBatch)?.objects ?? [.root]
        let includesDeprecated = arguments["includeDeprecated"]?.boolean ?? false
        var slots: [Slot] = []
        var items: [Slot] = []
        var children: [IntrospectedElement] = []
        func add(_ object: IntrospectedElement) -> Slot {
            children.append(object)
            return .object(group: 0, index: Int32(children.count - 1))
        }
        for object in objects {
            switch value(of: object, arguments: arguments, includingDeprecated: includesDeprecated)
            {
            case .none: slots.append(.null)
            case .one(let found): slots.append(add(found))
            case .many(let found):
                slots.append(
                    .list(start: Int32(objects.count + items.count), count: Int32(found.count)))
                for object in found { items.append(add(object)) }
            }
        }
        let batch = IntrospectionBatch(children, field.selections[0], schema)
        return .ready(Children(slots: slots + items, groups: [.init(batch)]))
    }

    private func value(
        of object: IntrospectedElement, arguments: ArgumentValues, includingDeprecated: Bool
    ) -> FieldValue {
        switch (object, field.name) {
        case (.root, "__schema"):
            return .one(.schema)
        case (.root, "__type"):
            guard let name = arguments["name"]?.string, schema.type(named: name) != nil else {
                return .none
            }
            return .one(named(name))
        case (.schema, "types"):
            return .many(schema.types.map { named($0.name) })
        case (.schema, "queryType"):
            return .one(named(schema.queryType.name))
        case (.schema, "mutationType"):
            return schema.mutationType.map { .one(named($0.name)) } ?? .none
        case (.schema, "subscriptionType"):
            return schema.subscriptionType.map { .one(named($0.name)) } ?? .none
        case (.schema, "directives"):
            return .many(schema.directives.map { .directive($0) })
        case (.type(let type), _):
            return value(of: type, includingDeprecated: includingDeprecated)
        case (.field(let field), "args"):
            return .many(inputs(field.arguments, includingDeprecated))
        case (.directive(let directive), "args"):
            return .many(inputs(directive.arguments, includingDeprecated))
        case (.field(let field), "type"):
            return .one(.type(field.type))
        case (.inputValue(let value), "type"):
            return .one(.type(value.type))
        default:
            return .none
        }
    }

    private func value(of type: TypeReference, includingDeprecated: Bool) -> FieldValue {
        switch type {
        case .list(let inner, _), .nonNull(let inner, _):
            return field.name == "ofType" ? .one(.type(inner)) : .none
        case .named(let name):
            guard let definition = schema.type(named: name.value) else { return .none }
            switch (field.name, definition.kind) {
            case ("fields", .object(let type)), ("fields", .interface(let type)):
                return .many(
                    type.fields.filter { includingDeprecated || $0.deprecationReason == nil }
                        .map { .field($0) })
            case ("interfaces", .object(let type)), ("interfaces", .interface(let type)):
                return .many(type.interfaces.map(named))
            case ("possibleTypes", .interface), ("possibleTypes", .union):
                return .many(schema.possibleTypes(of: definition).map { named($0.name) })
            case ("enumValues", .enumeration(let values)):
                return .many(
                    values.filter { includingDeprecated || $0.deprecationReason == nil }
                        .map { .enumValue($0) })
            case ("inputFields", .inputObject(let type)):
                return .many(inputs(type.fields, includingDeprecated))
            default:
                return .none
            }
        }
    }

    private func named(_ name: String) -> IntrospectedElement { .type(.named(Name(name))) }

    private func inputs(
        _ values: [InputValueDefinition], _ includingDeprecated: Bool
    ) -> [IntrospectedElement] {
        values.filter { includingDeprecated || $0.deprecationReason == nil }
            .map { .inputValue($0) }
    }
}
