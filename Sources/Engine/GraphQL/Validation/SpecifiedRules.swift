/// All validation rules for executable documents, combined in one rule.
///
/// Each hook calls the rules that implement it, in the order of graphql-js. That determines the
/// order of the errors for one node.
struct SpecifiedRules: ValidationRule {
    private var executableDefinitions = ExecutableDefinitionsRule()
    private var uniqueOperationNames = UniqueOperationNamesRule()
    private var loneAnonymousOperation = LoneAnonymousOperationRule()
    private var knownOperationTypes = KnownOperationTypesRule()
    private var singleFieldSubscriptions = SingleFieldSubscriptionsRule()
    private var knownTypeNames = KnownTypeNamesRule()
    private var fragmentsOnCompositeTypes = FragmentsOnCompositeTypesRule()
    private var variablesAreInputTypes = VariablesAreInputTypesRule()
    private var scalarLeafs = ScalarLeafsRule()
    private var fieldsOnCorrectType = FieldsOnCorrectTypeRule()
    private var uniqueFragmentNames = UniqueFragmentNamesRule()
    private var knownFragmentNames = KnownFragmentNamesRule()
    private var noUnusedFragments = NoUnusedFragmentsRule()
    private var possibleFragmentSpreads = PossibleFragmentSpreadsRule()
    private var noFragmentCycles = NoFragmentCyclesRule()
    private var uniqueVariableNames = UniqueVariableNamesRule()
    private var noUndefinedVariables = NoUndefinedVariablesRule()
    private var noUnusedVariables = NoUnusedVariablesRule()
    private var knownDirectives = KnownDirectivesRule()
    private var uniqueDirectivesPerLocation = UniqueDirectivesPerLocationRule()
    private var incrementalDirectives = IncrementalDirectiveRules()
    private var knownArgumentNames = KnownArgumentNamesRule()
    private var uniqueArgumentNames = UniqueArgumentNamesRule()
    private var valuesOfCorrectType = ValuesOfCorrectTypeRule()
    private var providedRequiredArguments = ProvidedRequiredArgumentsRule()
    private var variablesInAllowedPosition = VariablesInAllowedPositionRule()
    private var overlappingFieldsCanBeMerged = OverlappingFieldsCanBeMergedRule()
    private var uniqueInputFieldNames = UniqueInputFieldNamesRule()
    private var noSchemaIntrospection = NoSchemaIntrospectionRule()

    mutating func enter(_ operation: OperationDefinition, in context: inout ValidationContext) {
        uniqueOperationNames.enter(operation, in: &context)
        loneAnonymousOperation.enter(operation, in: &context)
        knownOperationTypes.enter(operation, in: &context)
        singleFieldSubscriptions.enter(operation, in: &context)
        incrementalDirectives.enter(operation, in: &context)
        uniqueVariableNames.enter(operation, in: &context)
    }

    mutating func enter(_ fragment: FragmentDefinition, in context: inout ValidationContext) {
        fragmentsOnCompositeTypes.enter(fragment, in: &context)
        uniqueFragmentNames.enter(fragment, in: &context)
        noFragmentCycles.enter(fragment, in: &context)
        incrementalDirectives.enter(fragment, in: &context)
    }

    func enter(_ definition: TypeSystemDefinition, in context: inout ValidationContext) {
        executableDefinitions.enter(definition, in: &context)
    }

    func enter(_ variable: VariableDefinition, in context: inout ValidationContext) {
        variablesAreInputTypes.enter(variable, in: &context)
    }

    mutating func enter(_ selectionSet: SelectionSet, in context: inout ValidationContext) {
        overlappingFieldsCanBeMerged.enter(selectionSet, in: &context)
    }

    func enter(_ field: Field, in context: inout ValidationContext) {
        scalarLeafs.enter(field, in: &context)
        fieldsOnCorrectType.enter(field, in: &context)
        uniqueArgumentNames.enter(field, in: &context)
        noSchemaIntrospection.enter(field, in: &context)
    }

    func leave(_ field: Field, in context: inout ValidationContext) {
        providedRequiredArguments.leave(field, in: &context)
    }

    func enter(_ spread: FragmentSpread, in context: inout ValidationContext) {
        knownFragmentNames.enter(spread, in: &context)
        possibleFragmentSpreads.enter(spread, in: &context)
    }

    func enter(_ fragment: InlineFragment, in context: inout ValidationContext) {
        fragmentsOnCompositeTypes.enter(fragment, in: &context)
        possibleFragmentSpreads.enter(fragment, in: &context)
    }

    func enter(
        _ directives: some Collection<Directive>, at location: DirectiveLocation,
        in context: inout ValidationContext
    ) {
        uniqueDirectivesPerLocation.enter(directives, at: location, in: &context)
    }

    mutating func enter(
        _ directive: Directive, at location: DirectiveLocation, in context: inout ValidationContext
    ) {
        knownDirectives.enter(directive, at: location, in: &context)
        incrementalDirectives.enter(directive, at: location, in: &context)
        uniqueArgumentNames.enter(directive, at: location, in: &context)
    }

    func leave(_ directive: Directive, in context: inout ValidationContext) {
        providedRequiredArguments.leave(directive, in: &context)
    }

    func enter(_ argument: Argument, in context: inout ValidationContext) {
        knownArgumentNames.enter(argument, in: &context)
    }

    func enter(_ value: ValueNode, in context: inout ValidationContext) {
        valuesOfCorrectType.enter(value, in: &context)
        uniqueInputFieldNames.enter(value, in: &context)
    }

    func enter(typeNamed name: Name, in context: inout ValidationContext) {
        knownTypeNames.enter(typeNamed: name, in: &context)
    }

    mutating func leave(
        _ operation: OperationDefinition, usages: [VariableUsage],
        in context: inout ValidationContext
    ) {
        noUndefinedVariables.leave(operation, usages: usages, in: &context)
        noUnusedVariables.leave(operation, usages: usages, in: &context)
        variablesInAllowedPosition.leave(operation, usages: usages, in: &context)
    }

    func leaveDocument(in context: inout ValidationContext) {
        noUnusedFragments.leaveDocument(in: &context)
    }
}
