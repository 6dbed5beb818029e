/// Walks a document once and tells `rules` of its nodes, with the types of each place in the context.
///
/// Generic over the rules, so that a hook is a plain call. The recursion is bounded by the parser's nesting limit:
/// fragments are definitions of their own, spreads are not followed.
func walk<Rules: ValidationRule>(_ rules: inout Rules, in context: inout ValidationContext) {
    for (index, definition) in context.document.definitions.enumerated() {
        if context.isExhausted { return }
        context.definitionIndex = index
        switch definition {
        case .operation(let operation): walk(operation, &rules, &context)
        case .fragment(let fragment): walk(fragment, &rules, &context)
        case .typeSystem(let definition): rules.enter(definition, in: &context)
        }
    }
    for (index, definition) in context.document.definitions.enumerated() {
        guard case .operation(let operation) = definition else { continue }
        let usages = context.variableUsages(of: operation, at: index)
        context.afterDefinition(index) { rules.leave(operation, usages: usages, in: &$0) }
        if context.isExhausted { return }
    }
    rules.leaveDocument(in: &context)
}

private func walk<Rules: ValidationRule>(
    _ operation: OperationDefinition, _ rules: inout Rules, _ context: inout ValidationContext
) {
    context.parentType = nil
    context.type = context.schema.rootType(of: operation.kind)
    context.field = nil
    rules.enter(operation, in: &context)
    for variable in operation.variables { walk(variable, &rules, &context) }
    let location: DirectiveLocation =
        switch operation.kind {
        case .query: .query
        case .mutation: .mutation
        case .subscription: .subscription
        }
    walk(operation.directives, at: location, &rules, &context)
    walk(operation.selectionSet, &rules, &context)
}

private func walk<Rules: ValidationRule>(
    _ fragment: FragmentDefinition, _ rules: inout Rules, _ context: inout ValidationContext
) {
    context.parentType = nil
    context.type = context.schema.outputType(named: fragment.typeCondition.value)
    context.field = nil
    rules.enter(fragment, in: &context)
    rules.enter(typeNamed: fragment.typeCondition, in: &context)
    walk(fragment.directives, at: .fragmentDefinition, &rules, &context)
    walk(fragment.selectionSet, &rules, &context)
}

private func walk<Rules: ValidationRule>(
    _ variable: VariableDefinition, _ rules: inout Rules, _ context: inout ValidationContext
) {
    rules.enter(variable, in: &context)
    let type = variable.type
    rules.enter(typeNamed: type.name, in: &context)
    if let value = variable.defaultValue {
        let isInput = context.schema.type(named: type.namedType)?.isInput ?? false
        context.inputType = isInput ? type : nil
        rules.enter(value, in: &context)
        context.inputType = nil
    }
    walk(variable.directives, at: .variableDefinition, &rules, &context)
}

/// Selects from `context.type`; leaves the context as it was.
private func walk<Rules: ValidationRule>(
    _ selectionSet: SelectionSet, isInline: Bool = false, _ rules: inout Rules,
    _ context: inout ValidationContext
) {
    if context.isExhausted { return }
    let outer = context.parentType
    let type = context.type
    let parentType = type.flatMap { $0.isComposite ? $0 : nil }
    context.parentType = parentType
    if !isInline { rules.enter(selectionSet, in: &context) }
    for selection in selectionSet.selections {
        switch selection {
        case .field(let field):
            walk(field, &rules, &context)
        case .fragmentSpread(let spread):
            rules.enter(spread, in: &context)
            walk(spread.directives, at: .fragmentSpread, &rules, &context)
        case .inlineFragment(let fragment):
            context.type =
                if let condition = fragment.typeCondition {
                    context.schema.outputType(named: condition.value)
                } else {
                    type
                }
            rules.enter(fragment, in: &context)
            if let condition = fragment.typeCondition {
                rules.enter(typeNamed: condition, in: &context)
            }
            walk(fragment.directives, at: .inlineFragment, &rules, &context)
            walk(fragment.selectionSet, isInline: true, &rules, &context)
            context.type = type
        }
    }
    context.parentType = outer
}

private func walk<Rules: ValidationRule>(
    _ field: Field, _ rules: inout Rules, _ context: inout ValidationContext
) {
    let (outerType, outerField) = (context.type, context.field)
    let definition = context.parentType.flatMap {
        context.schema.field(named: field.name.value, of: $0)
    }
    context.field = definition
    context.type = definition.flatMap { context.schema.type(named: $0.type.namedType) }
    rules.enter(field, in: &context)
    for argument in field.arguments {
        walk(argument, definition?.argument(named: argument.name.value), &rules, &context)
    }
    walk(field.directives, at: .field, &rules, &context)
    if let selectionSet = field.selectionSet { walk(selectionSet, &rules, &context) }
    rules.leave(field, in: &context)
    (context.type, context.field) = (outerType, outerField)
}

/// Used for the directives of type-system definitions, too.
func walk<Rules: ValidationRule>(
    _ directives: some Collection<Directive>, at location: DirectiveLocation, _ rules: inout Rules,
    _ context: inout ValidationContext
) {
    if directives.isEmpty { return }
    context.isInDirective = true
    defer { context.isInDirective = false }
    rules.enter(directives, at: location, in: &context)
    for directive in directives {
        let definition = context.schema.directive(named: directive.name.value)
        context.directive = definition
        rules.enter(directive, at: location, in: &context)
        for argument in directive.arguments {
            let argumentDefinition = definition.flatMap { definition in
                definition.arguments.first { $0.name == argument.name.value }
            }
            walk(argument, argumentDefinition, &rules, &context)
        }
        rules.leave(directive, in: &context)
        context.directive = nil
    }
}

private func walk<Rules: ValidationRule>(
    _ argument: Argument, _ definition: InputValueDefinition?, _ rules: inout Rules,
    _ context: inout ValidationContext
) {
    context.argument = definition
    context.inputType = definition?.type
    rules.enter(argument, in: &context)
    rules.enter(argument.value, in: &context)
    context.recordUsages(
        in: argument.value, type: definition?.type,
        hasLocationDefault: definition?.defaultValue != nil)
    context.argument = nil
    context.inputType = nil
}

extension ValidationContext {
    /// Variables used in an operation and in the fragments it reaches.
    fileprivate mutating func variableUsages(
        of operation: OperationDefinition, at index: Int
    ) -> [VariableUsage] {
        guard !fragments.isEmpty else { return variableUsages[index] }
        return references.reached(from: operation.selectionSet).reduce(
            into: variableUsages[index]
        ) { usages, fragment in
            usages += variableUsages[fragments.definitionIndices[fragment]]
        }
    }

    /// Records every variable of a value, with the type its place asks for.
    fileprivate mutating func recordUsages(
        in value: ValueNode, type: TypeReference?, hasLocationDefault: Bool,
        oneOfParent: String? = nil
    ) {
        switch value.kind {
        case .variable(let name):
            variableUsages[definitionIndex].append(
                VariableUsage(
                    name: name, range: value.range, type: type,
                    hasLocationDefault: hasLocationDefault, oneOfParent: oneOfParent))
        case .list(let items):
            let itemType = type.map { $0.listItem ?? $0.nullable }
            for item in items { recordUsages(in: item, type: itemType, hasLocationDefault: false) }
        case .object(let fields):
            let inputObject = type.flatMap { schema.inputObject(named: $0.namedType) }
            for field in fields {
                let definition = inputObject?.field(named: field.name.value)
                recordUsages(
                    in: field.value, type: definition?.type,
                    hasLocationDefault: definition?.defaultValue != nil,
                    oneOfParent: inputObject?.isOneOf == true ? type?.namedType : nil)
            }
        case .int, .float, .string, .boolean, .null, .enumeration:
            break
        }
    }
}

extension Schema {
    /// The type of that name where it may be a field's.
    fileprivate func outputType(named name: String) -> TypeDefinition? {
        type(named: name).flatMap { $0.isOutput ? $0 : nil }
    }

    func inputObject(named name: String) -> InputObjectType? {
        if case .inputObject(let type)? = type(named: name)?.kind { type } else { nil }
    }
}

extension TypeReference {
    /// The name inside, and where it is written.
    var name: Name {
        switch self {
        case .named(let name): name
        case .list(let inner, _), .nonNull(let inner, _): inner.name
        }
    }
}
