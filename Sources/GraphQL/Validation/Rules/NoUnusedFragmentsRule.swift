/// Every fragment is reached from an operation.
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
            // Of several with one name, graphql-js counts all as used with the last.
            let last = fragments.index(of: fragment.nameID) ?? index
            guard !isUsed[last] else { continue }
            context.report(
                "Fragment \"\(fragment.name.value)\" is never used.", at: fragment.range)
        }
    }
}
