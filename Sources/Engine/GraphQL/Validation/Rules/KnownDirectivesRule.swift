/// Directives are defined, and used only at the locations that their definition allows.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Directives-Are-Defined
struct KnownDirectivesRule: ValidationRule {
    func enter(
        _ directive: Directive, at location: DirectiveLocation, in context: inout ValidationContext
    ) {
        guard let definition = context.directive else {
            context.report("Unknown directive \"@\(directive.name.value)\".", at: directive.range)
            return
        }
        if !definition.locations.contains(location) {
            context.report(
                "Directive \"@\(directive.name.value)\" may not be used on \(location.rawValue).",
                at: directive.range)
        }
    }
}
