/// A directive that is not repeatable is used at most once per location.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Directives-Are-Unique-per-Location
struct UniqueDirectivesPerLocationRule: ValidationRule {
    func enter(
        _ directives: some Collection<Directive>, at location: DirectiveLocation,
        in context: inout ValidationContext
    ) {
        for group in context.groupsWithSameName(directives) {
            guard let definition = context.schema.directive(named: group[0].nameText),
                !definition.isRepeatable
            else { continue }
            for directive in group.dropFirst() {
                context.report(
                    "The directive \"@\(directive.nameText)\" can only be used once at this location.",
                    at: group[0].range, directive.range)
            }
        }
    }
}
