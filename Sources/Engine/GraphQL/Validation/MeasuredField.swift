/// The properties of a field's definition that determine its measure.
struct MeasuredField {
    /// The type of the field without list and non-null wrappers.
    let type: TypeDefinition?
    let isList: Bool
    /// The assumed number of objects of a field that is not a page: 1 for most fields that are not lists.
    let objectCount: Int
    /// The arguments that determine the size of a page.
    let sizeArguments: [InputValueDefinition]
    /// Whether the field is `__schema` or `__type`.
    let startsIntrospection: Bool
    let isIntrospectionField: Bool
    /// Whether the field is an introspection list that multiplies the size of the response when
    /// such lists are nested.
    let multipliesIntrospection: Bool

    init(
        named name: String, of parentType: TypeDefinition?, in schema: Schema,
        limits: OperationLimits
    ) {
        let definition = parentType.flatMap { schema.field(named: name, of: $0) }
        type = definition.flatMap { schema.type(named: $0.namedType) }
        isList = definition?.type.listItem != nil
        objectCount =
            parentType.flatMap { limits.objectCounts["\($0.name).\(name)"] }
            ?? (isList ? limits.listSizeAssumed : 1)
        sizeArguments =
            definition?.arguments.filter { limits.pageSizeArguments.contains($0.name) } ?? []
        startsIntrospection = name == "__schema" || name == "__type"
        isIntrospectionField = parentType?.name.hasPrefix("__") ?? false
        multipliesIntrospection =
            isIntrospectionField
            && ["fields", "interfaces", "possibleTypes", "inputFields"].contains(name)
    }
}
