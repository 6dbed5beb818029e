/// Checks that all referenced types are defined, and that extensions extend a type of the same
/// kind.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Type-References and #sec-Type-Extensions
func checkKnownTypes(_ parts: SchemaParts, _ context: inout ValidationContext) {
    for case .typeSystem(let definition) in context.document.definitions {
        switch definition {
        case .schema(let schema):
            for operation in schema.operationTypes {
                checkIsKnown(operation.type, parts, &context)
            }
        case .directive(let directive):
            for argument in directive.arguments {
                checkIsKnown(argument.type.name, parts, &context)
            }
        case .type(let type):
            if type.isExtension { checkExtension(type, parts, &context) }
            checkReferences(of: type, parts, &context)
        }
    }
}

private func checkReferences(
    of type: TypeDefinitionNode, _ parts: SchemaParts, _ context: inout ValidationContext
) {
    switch type.body {
    case .object(let interfaces, let fields), .interface(let interfaces, let fields):
        for interface in interfaces { checkIsKnown(interface, parts, &context) }
        for field in fields {
            for argument in field.arguments { checkIsKnown(argument.type.name, parts, &context) }
            checkIsKnown(field.type.name, parts, &context)
        }
    case .union(let members):
        for member in members { checkIsKnown(member, parts, &context) }
    case .inputObject(let fields):
        for field in fields { checkIsKnown(field.type.name, parts, &context) }
    case .scalar, .enumeration:
        break
    }
}

private func checkIsKnown(_ name: Name, _ parts: SchemaParts, _ context: inout ValidationContext) {
    let isBuiltIn =
        SpecifiedScalars.names.contains(name.value) || IntrospectionTypes.names.contains(name.value)
    guard !isBuiltIn, parts[name.value] == nil else { return }
    let suggestion = context.suggestion(
        for: name.value,
        among: SpecifiedScalars.all.map(\.name) + IntrospectionTypes.all.map(\.name)
            + parts.types.map(\.name.value))
    context.report("Unknown type \"\(name.value)\"." + suggestion, at: name.range)
}

private func checkExtension(
    _ type: TypeDefinitionNode, _ parts: SchemaParts, _ context: inout ValidationContext
) {
    let name = type.name.value
    guard let definition = parts[name]?.definition else {
        let suggestion = context.suggestion(for: name, among: parts.types.map(\.name.value))
        context.report(
            "Cannot extend type \"\(name)\" because it is not defined." + suggestion,
            at: type.name.range)
        return
    }
    if definition.kindName != type.kindName {
        context.report(
            "Cannot extend non-\(type.kindName) type \"\(name)\".", at: definition.range, type.range
        )
    }
}
