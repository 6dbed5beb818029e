/// The type condition of a fragment is an object, interface, or union type.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Fragments-on-Object-Interface-or-Union-Types
struct FragmentsOnCompositeTypesRule: ValidationRule {
    func enter(_ fragment: FragmentDefinition, in context: inout ValidationContext) {
        let condition = fragment.typeCondition
        guard let type = context.schema.type(named: condition.value), !type.isComposite else {
            return
        }
        context.report(
            "Fragment \"\(fragment.name.value)\" cannot condition on non composite type "
                + "\"\(condition.value)\".", at: condition.range)
    }

    func enter(_ fragment: InlineFragment, in context: inout ValidationContext) {
        guard let condition = fragment.typeCondition,
            let type = context.schema.type(named: condition.value), !type.isComposite
        else { return }
        context.report(
            "Fragment cannot condition on non composite type \"\(condition.value)\".",
            at: condition.range)
    }
}
