/// The argument names of a field or directive are unique.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Argument-Uniqueness
struct UniqueArgumentNamesRule: ValidationRule {
    func enter(_ field: Field, in context: inout ValidationContext) {
        if !field.isPlain { check(field.arguments, in: &context) }
    }

    func enter(
        _ directive: Directive, at location: DirectiveLocation, in context: inout ValidationContext
    ) {
        check(directive.arguments, in: &context)
    }

    private func check(_ arguments: NodeList<Argument>, in context: inout ValidationContext) {
        for group in context.groupsWithSameName(arguments) {
            context.report(
                "There can be only one argument named \"\(group[0].nameText)\".",
                at: group.map(\.name.range))
        }
    }
}
