/// Where a value stands, and what it must be there.
struct InputPlace {
    /// Of the argument or input field; nil for the default value of a variable.
    let definition: InputValueDefinition?
    let type: TypeReference
    /// The type inside all lists and non-nulls; nil where the schema does not have it.
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

/// What has arguments or input fields.
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
