/// Checks that a name does not begin with two underscores, which is reserved for introspection.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Names.Reserved-Names
func checkIsUnreserved(
    _ name: Name, at range: SourceRange, _ context: inout ValidationContext
) {
    guard name.value.hasPrefix("__") else { return }
    context.report(
        "Name \"\(name.value)\" must not begin with \"__\", which is reserved by GraphQL introspection.",
        at: range)
}

/// Checks that no type has the name of a built-in scalar. A scalar definition with such a name is
/// ignored, because many tools print the built-in scalars.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Type-System (no name conflicts with a built-in type)
func checkIsNotBuiltIn(_ type: TypeParts, _ context: inout ValidationContext) {
    guard SpecifiedScalars.names.contains(type.name.value) else { return }
    if case .scalar = type.definition.body { return }
    context.report(
        "Type \"\(type.name.value)\" is a built-in scalar and cannot be defined as another type.",
        at: type.name.range)
}

/// Checks the definitions of directives.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Type-System.Directives.Type-Validation
func checkDirectiveDefinitions(_ parts: SchemaParts, _ context: inout ValidationContext) {
    for directive in parts.directives {
        checkIsUnreserved(directive.name, at: directive.range, &context)
        for argument in directive.arguments {
            checkInputValue(
                argument, "@\(directive.name.value)(\(argument.name.value):)",
                typeRange: argument.range, &context)
        }
    }
    checkDirectiveCycles(parts, &context)
}

/// Checks the fields of an object or interface type.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Objects.Type-Validation
func checkFields(of type: TypeParts, _ context: inout ValidationContext) {
    let fields = type.fields
    if fields.isEmpty {
        context.report(
            "Type \(type.name.value) must define one or more fields.", at: type.ranges)
    }
    for field in fields {
        let path = "\(type.name.value).\(field.name.value)"
        checkIsUnreserved(field.name, at: field.range, &context)
        if context.schema.type(named: field.type.namedType)?.isOutput == false {
            context.report(
                "The type of \(path) must be Output Type but got: \(print(field.type)).",
                at: field.type.range)
        }
        checkSemanticNullability(field, path, &context)
        for argument in field.arguments {
            checkInputValue(argument, "\(path)(\(argument.name.value):)", &context)
        }
    }
}

/// Checks the members of a union type.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Unions.Type-Validation
func checkMembers(of type: TypeParts, _ context: inout ValidationContext) {
    let members = type.members
    if members.isEmpty {
        context.report(
            "Union type \(type.name.value) must define one or more member types.", at: type.ranges)
    }
    var included: Set<String> = []
    for member in members {
        let ranges = members.filter { $0 == member }.map(\.range)
        guard included.insert(member.value).inserted else {
            context.report(
                "Union type \(type.name.value) can only include type \(member.value) once.",
                at: ranges)
            continue
        }
        if case .object? = context.schema.type(named: member.value)?.kind { continue }
        context.report(
            "Union type \(type.name.value) can only include Object types, it cannot include "
                + "\(member.value).", at: ranges)
    }
}

/// Checks the values of an enum type.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Enums.Type-Validation
func checkValues(of type: TypeParts, _ context: inout ValidationContext) {
    let values = type.values
    if values.isEmpty {
        context.report(
            "Enum type \(type.name.value) must define one or more values.", at: type.ranges)
    }
    for value in values { checkIsUnreserved(value.name, at: value.range, &context) }
}

/// Checks the fields of an input object type.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Input-Objects.Type-Validation
func checkInputFields(of type: TypeParts, _ context: inout ValidationContext) {
    let fields = type.inputFields
    if fields.isEmpty {
        context.report(
            "Input Object type \(type.name.value) must define one or more fields.", at: type.ranges)
    }
    for field in fields {
        let path = "\(type.name.value).\(field.name.value)"
        checkInputValue(field, path, isField: true, &context)
        guard type.isOneOf else { continue }
        if field.type.isNonNull {
            context.report("OneOf input field \(path) must be nullable.", at: field.type.range)
        }
        if field.defaultValue != nil {
            context.report(
                "OneOf input field \(path) cannot have a default value.", at: field.range)
        }
    }
}

/// Checks an argument or input field: it has an input type, is not deprecated if it is required,
/// and its default value matches its type.
private func checkInputValue(
    _ node: InputValueDefinitionNode, _ path: String, isField: Bool = false,
    typeRange: SourceRange? = nil, _ context: inout ValidationContext
) {
    checkIsUnreserved(node.name, at: node.range, &context)
    guard context.schema.type(named: node.type.namedType)?.isInput == true else {
        context.report(
            "The type of \(path) must be Input Type but got: \(print(node.type)).",
            at: typeRange ?? node.type.range)
        return
    }
    if node.isRequired, let deprecation = node.directives.deprecation {
        context.report(
            "Required \(isField ? "input field" : "argument") \(path) cannot be deprecated.",
            at: deprecation.range, node.type.range)
    }
    if let value = node.defaultValue {
        context.input = InputPosition(node.type, in: context.schema)
        context.messagePrefix = "\(path) has invalid default value: "
        ValuesOfCorrectTypeRule().enter(value, in: &context)
        context.messagePrefix = ""
        context.input = nil
    }
}
