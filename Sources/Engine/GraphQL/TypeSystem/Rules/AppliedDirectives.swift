/// Checks the directives applied in a type-system document: they are defined, allowed at their
/// location, and not repeated unless repeatable, and their arguments are valid.
///
/// The rules are those of executable documents, because the syntax nodes are the same.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Validation.Directives
func checkAppliedDirectives(_ document: Document, _ context: inout ValidationContext) {
    var rules = DirectiveRules()
    // The definition of a type and its extensions count as one location, and so do those of the
    // schema.
    var schemaDirectives: [Directive] = []
    var typeDirectives: [TypeLocation: [Directive]] = [:]
    var typeLocations: [TypeLocation] = []
    for case .typeSystem(let definition) in document.definitions {
        switch definition {
        case .schema(let schema):
            schemaDirectives += schema.directives
        case .directive(let directive):
            walk(directive.arguments, at: .argumentDefinition, &rules, &context)
        case .type(let type):
            let typeLocation = TypeLocation(name: type.name.value, location: type.directiveLocation)
            if typeDirectives[typeLocation] == nil { typeLocations.append(typeLocation) }
            typeDirectives[typeLocation, default: []] += type.directives
            walkMembers(of: TypeParts(type), &rules, &context)
        }
    }
    walk(schemaDirectives, at: .schema, &rules, &context)
    for typeLocation in typeLocations {
        walk(typeDirectives[typeLocation] ?? [], at: typeLocation.location, &rules, &context)
    }
}

private struct TypeLocation: Hashable {
    let name: String
    let location: DirectiveLocation
}

private func walkMembers(
    of type: TypeParts, _ rules: inout DirectiveRules, _ context: inout ValidationContext
) {
    for field in type.fields {
        walk(field.directives, at: .fieldDefinition, &rules, &context)
        walk(field.arguments, at: .argumentDefinition, &rules, &context)
    }
    for value in type.values { walk(value.directives, at: .enumValue, &rules, &context) }
    walk(type.inputFields, at: .inputFieldDefinition, &rules, &context)
}

private func walk(
    _ inputValues: some Collection<InputValueDefinitionNode>, at location: DirectiveLocation,
    _ rules: inout DirectiveRules, _ context: inout ValidationContext
) {
    for inputValue in inputValues {
        if let value = inputValue.defaultValue { rules.checkFieldNames(of: value, in: &context) }
        walk(inputValue.directives, at: location, &rules, &context)
    }
}

private struct DirectiveRules: ValidationRule {
    private let knownDirectives = KnownDirectivesRule()
    private let uniqueDirectivesPerLocation = UniqueDirectivesPerLocationRule()
    private let knownArgumentNames = KnownArgumentNamesRule()
    private let uniqueArgumentNames = UniqueArgumentNamesRule()
    private let uniqueInputFieldNames = UniqueInputFieldNamesRule()
    private let valuesOfCorrectType = ValuesOfCorrectTypeRule()
    private let providedRequiredArguments = ProvidedRequiredArgumentsRule()

    func enter(
        _ directives: some Collection<Directive>, at location: DirectiveLocation,
        in context: inout ValidationContext
    ) {
        uniqueDirectivesPerLocation.enter(directives, at: location, in: &context)
    }

    func enter(
        _ directive: Directive, at location: DirectiveLocation, in context: inout ValidationContext
    ) {
        knownDirectives.enter(directive, at: location, in: &context)
        uniqueArgumentNames.enter(directive, at: location, in: &context)
    }

    func enter(_ argument: Argument, in context: inout ValidationContext) {
        knownArgumentNames.enter(argument, in: &context)
    }

    func enter(_ value: ValueNode, in context: inout ValidationContext) {
        uniqueInputFieldNames.enter(value, in: &context)
        valuesOfCorrectType.enter(value, in: &context)
    }

    func leave(_ directive: Directive, in context: inout ValidationContext) {
        providedRequiredArguments.leave(directive, in: &context)
    }

    /// Checks only the field names of a default value. Its type is checked together with the types.
    func checkFieldNames(of value: ValueNode, in context: inout ValidationContext) {
        uniqueInputFieldNames.enter(value, in: &context)
    }
}
