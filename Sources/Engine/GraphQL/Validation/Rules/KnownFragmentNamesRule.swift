/// Fragment spreads refer to fragments that the document defines.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Fragment-Spread-Target-Defined
struct KnownFragmentNamesRule: ValidationRule {
    func enter(_ spread: FragmentSpread, in context: inout ValidationContext) {
        guard context.fragments.index(of: spread.nameID) == nil else { return }
        context.report("Unknown fragment \"\(spread.name.value)\".", at: spread.name.range)
    }
}
