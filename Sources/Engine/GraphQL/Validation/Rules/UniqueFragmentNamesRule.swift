/// The fragment names of a document are unique.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Fragment-Name-Uniqueness
struct UniqueFragmentNamesRule: ValidationRule {
    private var known: [String: SourceRange] = [:]

    mutating func enter(_ fragment: FragmentDefinition, in context: inout ValidationContext) {
        guard context.fragments.all.count > 1 else { return }
        let name = fragment.name
        if let first = known[name.value] {
            context.report(
                "There can be only one fragment named \"\(name.value)\".", at: first, name.range)
        } else {
            known[name.value] = name.range
        }
    }
}
