/// What a field's definition says about its measure.
struct MeasuredField {
    /// The named type of its values.
    let type: TypeDefinition?
    let isList: Bool
    /// Those of its arguments that say how large a page is.
    let sizeArguments: [InputValueDefinition]
    /// `__schema` and `__type`.
    let startsIntrospection: Bool
    let isOfIntrospection: Bool
    /// Lists of introspection that multiply where one is inside another.
    let multipliesIntrospection: Bool

    init(named name: String, of parentType: TypeDefinition?, in schema: Schema) {
        let definition = parentType.flatMap { schema.field(named: name, of: $0) }
        type = definition.flatMap { schema.type(named: $0.namedType) }
        isList = definition?.type.listItem != nil
        sizeArguments =
            definition?.arguments.filter { pageSizeArguments.contains($0.name) } ?? []
        startsIntrospection = name == "__schema" || name == "__type"
        isOfIntrospection = parentType?.name.hasPrefix("__") ?? false
        multipliesIntrospection =
            isOfIntrospection
            && ["fields", "interfaces", "possibleTypes", "inputFields"].contains(name)
    }
}

/// Arguments that say how many objects a page has at most.
let pageSizeArguments = ["first", "last"]
