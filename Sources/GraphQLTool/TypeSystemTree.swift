import GraphQL

extension SyntaxTree {
    /// A type-system definition or extension in the shape of graphql-js.
    func tree(_ definition: TypeSystemDefinition) -> Value {
        switch definition {
        case .schema(let schema): tree(schema)
        case .type(let type): tree(type)
        case .directive(let directive): tree(directive)
        }
    }

    private func tree(_ schema: SchemaDefinition) -> Value {
        let operationTypes = schema.operationTypes.map { operationType in
            node(
                "OperationTypeDefinition", operationType.range,
                [
                    .init("operation", .string(operationType.kind.rawValue)),
                    .init("type", namedType(operationType.type)),
                ])
        }
        return node(
            schema.isExtension ? "SchemaExtension" : "SchemaDefinition", schema.range,
            [
                description(schema.description), directives(schema.directives),
                .init("operationTypes", .list(operationTypes)),
            ])
    }

    private func tree(_ type: TypeDefinitionNode) -> Value {
        let (kind, members): (String, [Value.Member]) =
            switch type.body {
            case .scalar:
                ("Scalar", [])
            case .object(let interfaces, let fields):
                ("Object", [self.interfaces(interfaces), self.fields(fields)])
            case .interface(let interfaces, let fields):
                ("Interface", [self.interfaces(interfaces), self.fields(fields)])
            case .union(let types):
                ("Union", [.init("types", .list(types.map(namedType)))])
            case .enumeration(let values):
                ("Enum", [.init("values", .list(values.map(tree)))])
            case .inputObject(let fields):
                ("InputObject", [.init("fields", .list(fields.map(tree)))])
            }
        return node(
            kind + (type.isExtension ? "TypeExtension" : "TypeDefinition"), type.range,
            [description(type.description), name(type.name), directives(type.directives)] + members)
    }

    private func tree(_ directive: DirectiveDefinitionNode) -> Value {
        node(
            "DirectiveDefinition", directive.range,
            [
                description(directive.description), name(directive.name),
                .init("arguments", .list(directive.arguments.map(tree))),
                .init("repeatable", .boolean(directive.isRepeatable)),
                .init("locations", .list(directive.locations.map(tree))),
            ])
    }

    private func interfaces(_ names: [Name]) -> Value.Member {
        .init("interfaces", .list(names.map(namedType)))
    }

    private func fields(_ fields: NodeList<FieldDefinitionNode>) -> Value.Member {
        .init(
            "fields",
            .list(
                fields.map {
                    node(
                        "FieldDefinition", $0.range,
                        [
                            description($0.description), name($0.name),
                            .init("arguments", .list($0.arguments.map(tree))), type($0.type),
                            directives($0.directives),
                        ])
                }))
    }

    private func tree(_ inputValue: InputValueDefinitionNode) -> Value {
        node(
            "InputValueDefinition", inputValue.range,
            [
                description(inputValue.description), name(inputValue.name), type(inputValue.type),
                inputValue.defaultValue.map { .init("defaultValue", tree($0)) },
                directives(inputValue.directives),
            ])
    }

    private func tree(_ value: EnumValueDefinitionNode) -> Value {
        node(
            "EnumValueDefinition", value.range,
            [description(value.description), name(value.name), directives(value.directives)])
    }
}
