import GraphQL

/// The descriptions of an operation's variables: their own, or else those of the arguments and input fields that use them.
struct VariableDescriptions {
    private let schema: Schema
    /// By the names of the variables.
    private(set) var texts: [String: String] = [:]

    init(_ operation: OperationDefinition, of document: Document, in schema: Schema) {
        self.schema = schema
        for variable in operation.variables {
            texts[variable.name.value] = variable.description?.value
        }
        visit(operation.selectionSet, of: schema.rootType(of: operation.kind))
        for case .fragment(let fragment) in document.definitions {
            visit(fragment.selectionSet, of: schema.type(named: fragment.typeCondition.value))
        }
    }

    /// Visits the fields of a selection set. Fragments are visited once, by their definitions. The depth of the recursion is limited by
    /// the parser.
    private mutating func visit(_ selections: SelectionSet, of type: TypeDefinition?) {
        for selection in selections.selections {
            switch selection {
            case .field(let field):
                guard let definition = type?.field(named: field.name.value) else { continue }
                for argument in field.arguments {
                    guard let input = definition.argument(named: argument.name.value) else {
                        continue
                    }
                    visit(argument.value, of: input)
                }
                if let inner = field.selectionSet {
                    visit(inner, of: schema.type(named: definition.namedType))
                }
            case .inlineFragment(let fragment):
                visit(
                    fragment.selectionSet,
                    of: fragment.typeCondition.map { schema.type(named: $0.value) } ?? type)
            case .fragmentSpread: break
            }
        }
    }

    private mutating func visit(_ value: ValueNode, of input: InputValueDefinition) {
        switch value.kind {
        case .variable(let name):
            if texts[name] == nil { texts[name] = input.description }
        case .object(let fields):
            visit(fields, of: input.type.namedType)
        case .list(let items):
            for case .object(let fields) in items.map(\.kind) {
                visit(fields, of: input.type.namedType)
            }
        default: break
        }
    }

    private mutating func visit(_ fields: NodeList<ObjectField>, of typeName: String) {
        guard case .inputObject(let type)? = schema.type(named: typeName)?.kind else { return }
        for field in fields {
            guard let input = type.field(named: field.name.value) else { continue }
            visit(field.value, of: input)
        }
    }
}
