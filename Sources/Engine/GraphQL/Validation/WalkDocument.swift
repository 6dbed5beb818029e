/// Walks a document once and calls the hooks of `rules`, with the types at the current position in
/// the context.
///
/// The function is generic over the rules, so that hooks are called directly. Nested selection sets
/// are kept on an explicit stack. Fragments are walked as definitions; spreads are not followed.
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
        let position = InputPosition(type, in: context.schema)
        context.input = position.namedType?.isInput == true ? position : nil
        rules.enter(value, in: &context)
        context.input = nil
    }
    walk(variable.directives, at: .variableDefinition, &rules, &context)
}

/// An open selection set, with the values to restore in the context when it is closed.
private struct OpenSelectionSet {
    /// The selections still to be walked.
    var rest: NodeList<Selection>.Iterator
    let outerParentType: TypeDefinition?
    /// The field that it belongs to; nil for the sets of definitions and inline fragments.
    let owner: Field?
    let ownerDefinition: FieldDefinition?
}

/// Walks a selection set that selects on `context.type`.
private func walk<Rules: ValidationRule>(
    _ selectionSet: SelectionSet, _ rules: inout Rules, _ context: inout ValidationContext
) {
    var openSets: [OpenSelectionSet] = []
    open(selectionSet, of: nil, &openSets, &context)
    rules.enter(selectionSet, in: &context)
    while let innermost = openSets.indices.last {
        guard !context.isExhausted, let selection = openSets[innermost].rest.next() else {
            close(openSets.removeLast(), &rules, &context)
            continue
        }
        switch selection {
        case .field(let field) where field.isPlain:
            walkPlain(field, &rules, &context)
        case .field(let field):
            walk(field, &openSets, &rules, &context)
        case .fragmentSpread(let spread):
            rules.enter(spread, in: &context)
            walk(spread.directives, at: .fragmentSpread, &rules, &context)
        case .inlineFragment(let fragment):
            walk(fragment, &openSets, &rules, &context)
        }
    }
}

private func open(
    _ selectionSet: SelectionSet, of owner: Field?, _ openSets: inout [OpenSelectionSet],
    _ context: inout ValidationContext
) {
    openSets.append(
        OpenSelectionSet(
            rest: selectionSet.selections.makeIterator(), outerParentType: context.parentType,
            owner: owner, ownerDefinition: context.field))
    context.parentType = context.type.flatMap { $0.isComposite ? $0 : nil }
}

private func close<Rules: ValidationRule>(
    _ open: OpenSelectionSet, _ rules: inout Rules, _ context: inout ValidationContext
) {
    context.parentType = open.outerParentType
    if let owner = open.owner {
        context.field = open.ownerDefinition
        rules.leave(owner, in: &context)
    }
}

/// Walks a plain field. The result of the rules depends only on its name and parent type, and
/// documents select the same fields repeatedly, so a field that is known to be valid is skipped.
private func walkPlain<Rules: ValidationRule>(
    _ field: Field, _ rules: inout Rules, _ context: inout ValidationContext
) {
    guard let parentType = context.parentType else {
        context.select(field)
        rules.enter(field, in: &context)
        return rules.leave(field, in: &context)
    }
    if context.isKnownValid(field, of: parentType) { return }
    context.checkPlain(field, of: parentType) { context in
        rules.enter(field, in: &context)
        rules.leave(field, in: &context)
    }
}

private func walk<Rules: ValidationRule>(
    _ field: Field, _ openSets: inout [OpenSelectionSet], _ rules: inout Rules,
    _ context: inout ValidationContext
) {
    context.select(field)
    rules.enter(field, in: &context)
    for argument in field.arguments {
        let position = context.field.flatMap { context.inputPosition(of: argument, in: $0) }
        walk(argument, position, &rules, &context)
    }
    walk(field.directives, at: .field, &rules, &context)
    if let selectionSet = field.selectionSet {
        open(selectionSet, of: field, &openSets, &context)
        rules.enter(selectionSet, in: &context)
    } else {
        rules.leave(field, in: &context)
    }
}

private func walk<Rules: ValidationRule>(
    _ fragment: InlineFragment, _ openSets: inout [OpenSelectionSet], _ rules: inout Rules,
    _ context: inout ValidationContext
) {
    let condition = fragment.typeCondition
    context.type =
        condition.map { context.schema.outputType(named: $0.value) } ?? context.parentType
    rules.enter(fragment, in: &context)
    if let condition { rules.enter(typeNamed: condition, in: &context) }
    walk(fragment.directives, at: .inlineFragment, &rules, &context)
    open(fragment.selectionSet, of: nil, &openSets, &context)
}

/// Walks the directives of one location. Also used for type-system definitions.
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
            let position = definition.flatMap { context.inputPosition(of: argument, in: $0) }
            walk(argument, position, &rules, &context)
        }
        rules.leave(directive, in: &context)
        context.directive = nil
    }
}

private func walk<Rules: ValidationRule>(
    _ argument: Argument, _ position: InputPosition?, _ rules: inout Rules,
    _ context: inout ValidationContext
) {
    let value = argument.value
    context.argument = position?.definition
    context.input = position
    rules.enter(argument, in: &context)
    rules.enter(value, in: &context)
    context.recordUsages(in: value, at: position)
    context.argument = nil
    context.input = nil
}

extension Schema {
    /// Returns the type with the given name if it is an output type.
    fileprivate func outputType(named name: String) -> TypeDefinition? {
        type(named: name).flatMap { $0.isOutput ? $0 : nil }
    }
}

extension TypeReference {
    /// The name without list and non-null wrappers, with its range.
    var name: Name {
        switch self {
        case .named(let name): name
        case .list(let inner, _), .nonNull(let inner, _): inner.name
        }
    }
}
