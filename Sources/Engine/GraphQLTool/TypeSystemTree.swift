import GraphQL

extension SyntaxTreeWriter {
    /// Writes a type-system definition or extension in the format of graphql-js.
    mutating func write(_ definition: TypeSystemDefinition) {
        switch definition {
        case .schema(let schema): write(schema)
        case .type(let type): write(type)
        case .directive(let directive): write(directive)
        }
    }

    private mutating func write(_ schema: SchemaDefinition) {
        node(schema.isExtension ? "SchemaExtension" : "SchemaDefinition", schema.range) { tree in
            tree.description(schema.description)
            tree.directives(schema.directives)
            tree.list("operationTypes", schema.operationTypes) { tree, operationType in
                tree.node("OperationTypeDefinition", operationType.range) { tree in
                    tree.member("operation", operationType.kind.rawValue)
                    tree.member("type")
                    tree.namedType(operationType.type)
                }
            }
        }
    }

    private mutating func write(_ type: TypeDefinitionNode) {
        node(kind(of: type), type.range) { tree in
            tree.description(type.description)
            tree.name(type.name)
            tree.directives(type.directives)
            switch type.body {
            case .scalar: break
            case .object(let interfaces, let fields), .interface(let interfaces, let fields):
                tree.list("interfaces", interfaces) { $0.namedType($1) }
                tree.list("fields", fields) { $0.write($1) }
            case .union(let types): tree.list("types", types) { $0.namedType($1) }
            case .enumeration(let values): tree.list("values", values) { $0.write($1) }
            case .inputObject(let fields): tree.list("fields", fields) { $0.write($1) }
            }
        }
    }

    private func kind(of type: TypeDefinitionNode) -> StaticString {
        switch (type.body, type.isExtension) {
        case (.scalar, false): "ScalarTypeDefinition"
        case (.scalar, true): "ScalarTypeExtension"
        case (.object, false): "ObjectTypeDefinition"
        case (.object, true): "ObjectTypeExtension"
        case (.interface, false): "InterfaceTypeDefinition"
        case (.interface, true): "InterfaceTypeExtension"
        case (.union, false): "UnionTypeDefinition"
        case (.union, true): "UnionTypeExtension"
        case (.enumeration, false): "EnumTypeDefinition"
        case (.enumeration, true): "EnumTypeExtension"
        case (.inputObject, false): "InputObjectTypeDefinition"
        case (.inputObject, true): "InputObjectTypeExtension"
        }
    }

    private mutating func write(_ directive: DirectiveDefinitionNode) {
        node("DirectiveDefinition", directive.range) { tree in
            tree.description(directive.description)
            tree.name(directive.name)
            tree.list("arguments", directive.arguments) { $0.write($1) }
            tree.member("repeatable", directive.isRepeatable)
            tree.list("locations", directive.locations) { $0.write($1) }
        }
    }

    private mutating func write(_ field: FieldDefinitionNode) {
        node("FieldDefinition", field.range) { tree in
            tree.description(field.description)
            tree.name(field.name)
            tree.list("arguments", field.arguments) { $0.write($1) }
            tree.type(field.type)
            tree.directives(field.directives)
        }
    }

    private mutating func write(_ inputValue: InputValueDefinitionNode) {
        node("InputValueDefinition", inputValue.range) { tree in
            tree.description(inputValue.description)
            tree.name(inputValue.name)
            tree.type(inputValue.type)
            tree.defaultValue(inputValue.defaultValue)
            tree.directives(inputValue.directives)
        }
    }

    private mutating func write(_ value: EnumValueDefinitionNode) {
        node("EnumValueDefinition", value.range) { tree in
            tree.description(value.description)
            tree.name(value.name)
            tree.directives(value.directives)
        }
    }
}
