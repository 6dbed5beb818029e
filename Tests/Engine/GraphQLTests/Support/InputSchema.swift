@testable import GraphQL

/// Creates a schema with the input types, enums, and scalars of an SDL text, and a query type
/// without fields.
func inputSchema(_ sdl: String, scalars: [String: ScalarInput] = [:]) throws -> Schema {
    func values(_ nodes: NodeList<InputValueDefinitionNode>) -> [InputValueDefinition] {
        nodes.map {
            InputValueDefinition(
                name: $0.name.value, description: nil, type: $0.type, defaultValue: $0.defaultValue)
        }
    }
    var types = ["Int", "Float", "String", "Boolean", "ID"].map {
        TypeDefinition(name: $0, description: nil, kind: .scalar(specifiedByURL: nil))
    }
    for definition in try parse(Source(sdl)).definitions {
        guard case .typeSystem(.type(let node)) = definition else { continue }
        let kind: TypeDefinition.Kind
        switch node.body {
        case .scalar: kind = .scalar(specifiedByURL: nil)
        case .enumeration(let nodes):
            kind = .enumeration(
                nodes.map { EnumValueDefinition(name: $0.name.value, description: nil) })
        case .inputObject(let fields):
            kind = .inputObject(
                InputObjectType(
                    fields: values(fields),
                    isOneOf: node.directives.contains { $0.name.value == "oneOf" }))
        case .object(_, let fields):
            kind = .object(
                FieldsType(
                    interfaces: [],
                    fields: fields.map {
                        FieldDefinition(
                            name: $0.name.value, description: nil, arguments: values($0.arguments),
                            type: $0.type)
                    }))
        case .interface, .union: continue
        }
        types.append(TypeDefinition(name: node.name.value, description: nil, kind: kind))
    }
    let query = TypeDefinition(
        name: "Query", description: nil, kind: .object(FieldsType(interfaces: [], fields: [])))
    return Schema(
        description: nil, types: types + [query], directives: [], queryType: query,
        mutationType: nil, subscriptionType: nil, scalars: scalars)
}
