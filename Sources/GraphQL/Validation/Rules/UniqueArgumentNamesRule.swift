/// Arguments of one field or directive have different names.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Argument-Uniqueness
struct UniqueArgumentNamesRule: ValidationRule {
    func enter(_ field: Field, in context: inout ValidationContext) {
        check(field.arguments, in: &context)
    }

    func enter(
        _ directive: Directive, at location: DirectiveLocation, in context: inout ValidationContext
    ) {
        check(directive.arguments, in: &context)
    }

    private func check(_ arguments: NodeList<Argument>, in context: inout ValidationContext) {
        guard arguments.count > 1 else { return }
        for group in groupsOfSame(arguments.map(\.name)) {
            context.report(
                "There can be only one argument named \"\(group[0].value)\".",
                at: group.map(\.range))
        }
    }
}
