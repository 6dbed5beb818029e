/// Every fragment is used by an operation, directly or through other fragments.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Fragments-Must-Be-Used
struct NoUnusedFragmentsRule: ValidationRule {
    func leaveDocument(in context: inout ValidationContext) {
        guard !context.fragments.isEmpty else { return }
        let fragments = context.fragments
        var isUsed = Array(repeating: false, count: fragments.all.count)
        for reached in context.reachedFragments.values {
            for index in reached { isUsed[index] = true }
        }
        context.definitionIndex = context.document.definitions.count
        for (index, fragment) in fragments.all.enumerated() {
            // If several fragments have the same name, graphql-js considers all of them used if the
            // last one is.
            let last = fragments.index(of: fragment.nameID) ?? index
            guard !isUsed[last] else { continue }
            context.report(
                "Fragment \"\(fragment.name.value)\" is never used.", at: fragment.range)
        }
    }
}
