/// A position in which an input value is expected, with its type.
struct InputPosition {
    /// The definition of the argument or input field; nil for the default value of a variable.
    let definition: InputValueDefinition?
    let type: TypeReference
    /// The type without list and non-null wrappers; nil if the schema does not define it.
    let namedType: TypeDefinition?

    init(_ definition: InputValueDefinition, in schema: Schema) {
        self.definition = definition
        type = definition.type
        namedType = schema.type(named: type.namedType)
    }

    init(_ type: TypeReference, in schema: Schema) {
        definition = nil
        self.type = type
        namedType = schema.type(named: type.namedType)
    }

    var inputObject: InputObjectType? {
        if case .inputObject(let type)? = namedType?.kind { type } else { nil }
    }
}

/// A definition with arguments or input fields.
protocol InputOwner: AnyObject {
    func input(named name: String) -> InputValueDefinition?
}

extension FieldDefinition: InputOwner {
    func input(named name: String) -> InputValueDefinition? { argument(named: name) }
}

extension DirectiveDefinition: InputOwner {
    func input(named name: String) -> InputValueDefinition? { arguments.first { $0.name == name } }
}

extension InputObjectType: InputOwner {
    func input(named name: String) -> InputValueDefinition? { field(named: name) }
}
