/// A validation rule. Its hooks are called for the nodes of a document in the order of the text,
/// and report errors to the context.
///
/// A rule implements the hooks that it needs. The default implementations do nothing.
protocol ValidationRule {
    mutating func enter(_ operation: OperationDefinition, in context: inout ValidationContext)
    mutating func enter(_ fragment: FragmentDefinition, in context: inout ValidationContext)
    mutating func enter(_ definition: TypeSystemDefinition, in context: inout ValidationContext)
    mutating func enter(_ variable: VariableDefinition, in context: inout ValidationContext)
    /// Called for the selection sets of operations, fields, and fragment definitions. The
    /// selections of an inline fragment belong to the surrounding set.
    mutating func enter(_ selectionSet: SelectionSet, in context: inout ValidationContext)
    /// Called with `context.parentType` and `context.field` set.
    ///
    /// If a plain field (a name, or an alias and a name) is valid, the hook is not called for
    /// further plain fields with the same name and parent type. The result of a rule must therefore
    /// depend on nothing else.
    mutating func enter(_ field: Field, in context: inout ValidationContext)
    /// Called after the field's arguments, directives, and selections.
    mutating func leave(_ field: Field, in context: inout ValidationContext)
    mutating func enter(_ spread: FragmentSpread, in context: inout ValidationContext)
    /// Called with `context.type` set to the type condition and `context.parentType` to the
    /// surrounding type.
    mutating func enter(_ fragment: InlineFragment, in context: inout ValidationContext)
    /// Called with all directives of one location if there are any.
    mutating func enter(
        _ directives: some Collection<Directive>, at location: DirectiveLocation,
        in context: inout ValidationContext)
    mutating func enter(
        _ directive: Directive, at location: DirectiveLocation, in context: inout ValidationContext)
    /// Called after the directive's arguments.
    mutating func leave(_ directive: Directive, in context: inout ValidationContext)
    /// Called for the arguments of fields and directives. `context.isInDirective` distinguishes
    /// them.
    mutating func enter(_ argument: Argument, in context: inout ValidationContext)
    /// Called for the value of an argument and for default values, but not for values inside them.
    /// `context.input` is the expected type.
    mutating func enter(_ value: ValueNode, in context: inout ValidationContext)
    /// Called for the type name in a type condition or in the type of a variable.
    mutating func enter(typeNamed name: Name, in context: inout ValidationContext)
    /// Called for each operation after all definitions, with the variables used in the operation
    /// and in the fragments that it reaches.
    mutating func leave(
        _ operation: OperationDefinition, usages: [VariableUsage],
        in context: inout ValidationContext)
    /// Called once after all definitions, when `context.variableUsages` is complete.
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
