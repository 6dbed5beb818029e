/// A rule of the specification's chapter on validation: it hears of every node it asks for, in the order of the
/// document, and reports to the context.
///
/// A rule implements the hooks it needs; the others do nothing.
protocol ValidationRule {
    mutating func enter(_ operation: OperationDefinition, in context: inout ValidationContext)
    mutating func enter(_ fragment: FragmentDefinition, in context: inout ValidationContext)
    mutating func enter(_ definition: TypeSystemDefinition, in context: inout ValidationContext)
    mutating func enter(_ variable: VariableDefinition, in context: inout ValidationContext)
    /// Of an operation, a field or a fragment definition; those of inline fragments belong to what surrounds them.
    mutating func enter(_ selectionSet: SelectionSet, in context: inout ValidationContext)
    /// `context.parentType` and `context.field` are set.
    ///
    /// Of plain fields, that are a name or an alias and a name, rules hear once for each name and parent type where
    /// they had nothing to say: so nothing else may decide what they say.
    mutating func enter(_ field: Field, in context: inout ValidationContext)
    /// After the field's arguments, directives and selections.
    mutating func leave(_ field: Field, in context: inout ValidationContext)
    mutating func enter(_ spread: FragmentSpread, in context: inout ValidationContext)
    /// `context.type` is what the fragment applies to, `context.parentType` what surrounds it.
    mutating func enter(_ fragment: InlineFragment, in context: inout ValidationContext)
    /// All directives of one place together, where there are any.
    mutating func enter(
        _ directives: some Collection<Directive>, at location: DirectiveLocation,
        in context: inout ValidationContext)
    mutating func enter(
        _ directive: Directive, at location: DirectiveLocation, in context: inout ValidationContext)
    /// After the directive's arguments.
    mutating func leave(_ directive: Directive, in context: inout ValidationContext)
    /// Of a field or of a directive: `context.directive` tells.
    mutating func enter(_ argument: Argument, in context: inout ValidationContext)
    /// The whole value of an argument or a default, not the values inside it; `context.input` says what it must be.
    mutating func enter(_ value: ValueNode, in context: inout ValidationContext)
    /// A type named in a type condition or a variable's type.
    mutating func enter(typeNamed name: Name, in context: inout ValidationContext)
    /// After all definitions, once for each operation: the variables used in it and in the fragments it reaches.
    mutating func leave(
        _ operation: OperationDefinition, usages: [VariableUsage],
        in context: inout ValidationContext)
    /// After all definitions, when `context.variableUsages` is complete.
    mutating func leaveDocument(in context: inout ValidationContext)
}

extension ValidationRule {
    func enter(_ operation: OperationDefinition, in context: inout ValidationContext) {}
    func enter(_ fragment: FragmentDefinition, in context: inout ValidationContext) {}
    func enter(_ definition: TypeSystemDefinition, in context: inout ValidationContext) {}
    func enter(_ variable: VariableDefinition, in context: inout ValidationContext) {}
    func enter(_ selectionSet: SelectionSet, in context: inout ValidationContext) {}
    func enter(_ field: Field, in context: inout ValidationContext) {}
    func leave(_ field: Field, in context: inout ValidationContext) {}
    func enter(_ spread: FragmentSpread, in context: inout ValidationContext) {}
    func enter(_ fragment: InlineFragment, in context: inout ValidationContext) {}
    func enter(
        _ directives: some Collection<Directive>, at location: DirectiveLocation,
        in context: inout ValidationContext
    ) {}
    func enter(
        _ directive: Directive, at location: DirectiveLocation, in context: inout ValidationContext
    ) {}
    func leave(_ directive: Directive, in context: inout ValidationContext) {}
    func enter(_ argument: Argument, in context: inout ValidationContext) {}
    func enter(_ value: ValueNode, in context: inout ValidationContext) {}
    func enter(typeNamed name: Name, in context: inout ValidationContext) {}
    func leave(
        _ operation: OperationDefinition, usages: [VariableUsage],
        in context: inout ValidationContext
    ) {}
    func leaveDocument(in context: inout ValidationContext) {}
}
