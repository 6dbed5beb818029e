import GraphQL

/// Describes the variables of an operation in JSON Schema, for assistants.
///
/// Input objects, enums, and custom scalars are definitions in `$defs`, which can refer to themselves and to each other. Files
/// cannot be sent as JSON: optional inputs for files are left out, and an operation that requires one has no schema.
///
/// Spec: https://json-schema.org/draft/2020-12/json-schema-core
struct ToolInputSchema {
    private let schema: Schema
    private var definitions: [Value.Member] = []
    private var definedNames: Set<String> = []

    /// The formats of the product's scalars. All of them are strings.
    private static let formats: [String: Value.Member] = [
        "DateTime": .init("format", .string("date-time")),
        "PartialDate": .init(
            "pattern",
            .string("^[1-9][0-9]{3}(-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01]))?)?$")),
        "ISBN": .init("pattern", .string("^[0-9]{13}$")),
        "URI": .init("format", .string("uri")),
    ]

    private init(_ schema: Schema) { self.schema = schema }

    /// Returns the schema of an operation's variables as an object; nil if the operation requires a file.
    ///
    /// - Parameter descriptions: The descriptions of the variables by their names.
    static func make(
        _ variables: some Collection<VariableDefinition>, descriptions: [String: String],
        in schema: Schema
    ) -> Value? {
        var builder = ToolInputSchema(schema)
        var properties: [Value.Member] = []
        var required: [Value] = []
        for variable in variables {
            let (name, type) = (variable.name.value, variable.type)
            let isRequired = type.isNonNull && variable.defaultValue == nil
            guard builder.isRepresentable(type.namedType) else {
                if isRequired { return nil }
                continue
            }
            if isRequired { required.append(.string(name)) }
            properties.append(
                .init(
                    name,
                    builder.property(
                        type, description: descriptions[name], defaultValue: variable.defaultValue)
                ))
        }
        var members: [Value.Member] = [
            .init("$schema", .string("https://json-schema.org/draft/2020-12/schema"))
        ]
        members += object(properties, required)
        if !builder.definitions.isEmpty {
            members.append(.init("$defs", .object(builder.definitions)))
        }
        return .object(members)
    }

    private static func object(
        _ properties: [Value.Member], _ required: [Value]
    ) -> [Value.Member] {
        var members: [Value.Member] = [
            .init("type", .string("object")), .init("properties", .object(properties)),
        ]
        if !required.isEmpty { members.append(.init("required", .list(required))) }
        members.append(.init("additionalProperties", .boolean(false)))
        return members
    }

    private mutating func property(
        _ type: TypeReference, description: String?, defaultValue: ValueNode?,
        isDeprecated: Bool = false
    ) -> Value {
        var members = self.members(of: type)
        if let description { members.append(.init("description", .string(description))) }
        if let value = defaultValue.flatMap({ coerceLiteral($0, as: type, schema: schema) }) {
            members.append(.init("default", value))
        }
        if isDeprecated { members.append(.init("deprecated", .boolean(true))) }
        return .object(members)
    }

    /// Returns the members of the schema of a type.
    private mutating func members(of type: TypeReference) -> [Value.Member] {
        if type.isNonNull { return nonNullMembers(of: type.nullable) }
        var members = nonNullMembers(of: type)
        guard let index = members.firstIndex(where: { $0.name == "type" }) else {
            let null = Value.object([.init("type", .string("null"))])
            return [.init("anyOf", .list([.object(members), null]))]
        }
        members[index].value = .list([members[index].value, .string("null")])
        return members
    }

    /// Returns the members of the schema of a type's values that are not null.
    private mutating func nonNullMembers(of type: TypeReference) -> [Value.Member] {
        if let item = type.listItem {
            return [
                .init("type", .string("array")), .init("items", .object(members(of: item))),
            ]
        }
        switch type.namedType {
        case "Int":
            return [
                .init("type", .string("integer")), .init("minimum", .int(Int(Int32.min))),
                .init("maximum", .int(Int(Int32.max))),
            ]
        case "Float": return [.init("type", .string("number"))]
        case "Boolean": return [.init("type", .string("boolean"))]
        case "String", "ID": return [.init("type", .string("string"))]
        case let name:
            define(name)
            return [.init("$ref", .string("#/$defs/\(name)"))]
        }
    }

    private mutating func define(_ name: String) {
        // Types can refer to themselves, so the name is added first.
        guard definedNames.insert(name).inserted, let type = schema.type(named: name) else {
            return
        }
        var members: [Value.Member]
        var description = type.description
        switch type.kind {
        case .enumeration(let values):
            members = [
                .init("type", .string("string")),
                .init("enum", .list(values.map { .string($0.name) })),
            ]
            let lines = values.map { value in
                value.description.map { "- \(value.name): \($0)" } ?? "- \(value.name)"
            }
            description = ([description].compactMap(\.self) + lines).joined(separator: "\n")
        case .inputObject(let input):
            members = self.members(of: input)
        case .scalar, .object, .interface, .union:
            members = [.init("type", .string("string"))]
            if let format = Self.formats[name] { members.append(format) }
        }
        if let description { members.append(.init("description", .string(description))) }
        definitions.append(.init(name, .object(members)))
    }

    private mutating func members(of input: InputObjectType) -> [Value.Member] {
        let fields = input.fields.filter { isRepresentable($0.type.namedType) }
        let properties = fields.map { field in
            // The only member of a oneOf object must not be null.
            let type: TypeReference =
                input.isOneOf ? .nonNull(field.type, range: field.type.range) : field.type
            return Value.Member(
                field.name,
                property(
                    type, description: field.description, defaultValue: field.defaultValue,
                    isDeprecated: field.deprecationReason != nil))
        }
        let required = fields.filter(\.isRequired).map { Value.string($0.name) }
        var members = Self.object(properties, required)
        if input.isOneOf {
            members += [.init("minProperties", .int(1)), .init("maxProperties", .int(1))]
        }
        return members
    }

    /// Whether values of the type can be sent as JSON: they require no file.
    private func isRepresentable(_ name: String) -> Bool {
        var seen: Set<String> = []
        return isRepresentable(name, &seen)
    }

    private func isRepresentable(_ name: String, _ seen: inout Set<String>) -> Bool {
        guard name != "Upload" else { return false }
        guard seen.insert(name).inserted,
            case .inputObject(let input)? = schema.type(named: name)?.kind
        else { return true }
        return input.fields.allSatisfy { field in
            !field.isRequired || isRepresentable(field.type.namedType, &seen)
        }
    }
}
