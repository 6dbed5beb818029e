/// Walks a document once and tells `rules` of its nodes, with the types of each place in the context.
///
/// Generic over the rules, so that a hook is a plain call. Nesting costs a stack of its own, not the thread's; fragments are
/// definitions of their own, spreads are not followed.
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

/// A selection set that the walk is inside of, and what the context was outside of it.
private struct OpenSelectionSet {
    /// The selection to be walked next.
    var next: Int32
    /// Behind the last one.
    let end: Int32
    let outerParentType: TypeDefinition?
    /// The field that selects it; nil for the sets of definitions and inline fragments.
    let owner: Int32?
    let outerType: TypeDefinition?
    let outerField: FieldDefinition?
}

/// Selects from `context.type`.
private func walk<Rules: ValidationRule>(
    _ selectionSet: SelectionSet, _ rules: inout Rules, _ context: inout ValidationContext
) {
    let tree = context.document.tree
    var around: [OpenSelectionSet] = []
    open(selectionSet, of: nil, context.type, context.field, &around, &context)
    rules.enter(selectionSet, in: &context)
    while let innermost = around.indices.last {
        let index = around[innermost].next
        guard index < around[innermost].end, !context.isExhausted else {
            close(around.removeLast(), in: tree, &rules, &context)
            continue
        }
        around[innermost].next = tree.nodes[index].next
        switch Selection(NodeReference(tree: tree, index: index)) {
        case .field(let field):
            walk(field, &around, &rules, &context)
        case .fragmentSpread(let spread):
            rules.enter(spread, in: &context)
            walk(spread.directives, at: .fragmentSpread, &rules, &context)
        case .inlineFragment(let fragment):
            let outerType = context.type
            if let condition = fragment.typeCondition {
                context.type = context.schema.outputType(named: condition.value)
            }
            rules.enter(fragment, in: &context)
            if let condition = fragment.typeCondition {
                rules.enter(typeNamed: condition, in: &context)
            }
            walk(fragment.directives, at: .inlineFragment, &rules, &context)
            open(fragment.selectionSet, of: nil, outerType, context.field, &around, &context)
        }
    }
}

private func open(
    _ selectionSet: SelectionSet, of owner: Field?, _ outerType: TypeDefinition?,
    _ outerField: FieldDefinition?, _ around: inout [OpenSelectionSet],
    _ context: inout ValidationContext
) {
    let reference = selectionSet.reference
    around.append(
        OpenSelectionSet(
            next: reference.index + 1, end: reference.node.next,
            outerParentType: context.parentType, owner: owner?.reference.index,
            outerType: outerType, outerField: outerField))
    context.parentType = context.type.flatMap { $0.isComposite ? $0 : nil }
}

private func close<Rules: ValidationRule>(
    _ open: OpenSelectionSet, in tree: SyntaxTree, _ rules: inout Rules,
    _ context: inout ValidationContext
) {
    context.parentType = open.outerParentType
    if let owner = open.owner {
        rules.leave(Field(NodeReference(tree: tree, index: owner)), in: &context)
    }
    (context.type, context.field) = (open.outerType, open.outerField)
}

private func walk<Rules: ValidationRule>(
    _ field: Field, _ around: inout [OpenSelectionSet], _ rules: inout Rules,
    _ context: inout ValidationContext
) {
    let (outerType, outerField) = (context.type, context.field)
    let definition = context.parentType.flatMap {
        context.schema.field(named: field.name.value, of: $0)
    }
    context.field = definition
    context.type = definition.flatMap { context.schema.type(named: $0.namedType) }
    rules.enter(field, in: &context)
    if !field.isPlain {
        for argument in field.arguments {
            walk(argument, definition?.argument(named: argument.name.value), &rules, &context)
        }
        walk(field.directives, at: .field, &rules, &context)
        if let selectionSet = field.selectionSet {
            open(selectionSet, of: field, outerType, outerField, &around, &context)
            rules.enter(selectionSet, in: &context)
            return
        }
    }
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
        let reached = references.reached(from: operation.selectionSet)
        reachedFragments[index] = reached
        return reached.reduce(into: variableUsages[index]) { usages, fragment in
            usages += variableUsages[fragments.definitionIndices[fragment]]
        }
    }

    /// Records every variable of a value, with the type its place asks for.
    fileprivate mutating func recordUsages(
        in value: ValueNode, type: TypeReference?, hasLocationDefault: Bool
    ) {
        guard value.mentionsVariables else { return }
        var pending = [
            ValuePlace(value: value, type: type, hasLocationDefault: hasLocationDefault)
        ]
        while let place = pending.popLast() {
            switch place.value.kind {
            case .variable(let name):
                variableUsages[definitionIndex].append(
                    VariableUsage(
                        name: name, range: place.value.range, type: place.type,
                        hasLocationDefault: place.hasLocationDefault,
                        oneOfParent: place.oneOfParent))
            case .list(let items):
                let itemType = place.type.map { $0.listItem ?? $0.nullable }
                pending += items.map { ValuePlace(value: $0, type: itemType) }.reversed()
            case .object(let fields):
                let inputObject = place.type.flatMap { schema.inputObject(named: $0.namedType) }
                let oneOf = inputObject?.isOneOf == true ? place.type?.namedType : nil
                pending +=
                    fields.map { field in
                        let definition = inputObject?.field(named: field.name.value)
                        return ValuePlace(
                            value: field.value, type: definition?.type,
                            hasLocationDefault: definition?.defaultValue != nil,
                            oneOfParent: oneOf)
                    }.reversed()
            case .int, .float, .string, .boolean, .null, .enumeration:
                break
            }
        }
    }
}

/// A value inside another, and what its place asks of it.
private struct ValuePlace {
    let value: ValueNode
    let type: TypeReference?
    var hasLocationDefault = false
    var oneOfParent: String?
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
