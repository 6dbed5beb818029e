/// A fragment is spread only where objects of its type condition can occur.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Fragment-Spread-Is-Possible
struct PossibleFragmentSpreadsRule: ValidationRule {
    func enter(_ fragment: InlineFragment, in context: inout ValidationContext) {
        guard let type = context.type, type.isComposite, let parentType = context.parentType,
            !context.schema.overlap(type, parentType)
        else { return }
        context.report(
            "Fragment cannot be spread here as objects of type \"\(parentType.name)\" can never be of "
                + "type \"\(type.name)\".", at: fragment.range)
    }

    func enter(_ spread: FragmentSpread, in context: inout ValidationContext) {
        guard let fragment = context.fragments[spread.nameID],
            let type = context.schema.type(named: fragment.typeCondition.value), type.isComposite,
            let parentType = context.parentType, !context.schema.overlap(type, parentType)
        else { return }
        context.report(
            "Fragment \"\(spread.name.value)\" cannot be spread here as objects of type "
                + "\"\(parentType.name)\" can never be of type \"\(type.name)\".", at: spread.range)
    }
}
