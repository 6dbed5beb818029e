/// Every fragment is reached from an operation.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Fragments-Must-Be-Used
struct NoUnusedFragmentsRule: ValidationRule {
    func leaveDocument(in context: inout ValidationContext) {
        guard !context.fragments.isEmpty else { return }
        let fragments = context.fragments
        let references = context.references
        var isUsed = Array(repeating: false, count: fragments.all.count)
        for case .operation(let operation) in context.document.definitions {
            for index in references.reached(from: operation.selectionSet) { isUsed[index] = true }
        }
        context.definitionIndex = context.document.definitions.count
        for (index, fragment) in fragments.all.enumerated() {
            // Of several with one name, graphql-js counts all as used with the last.
            let last = fragments.index(of: fragment.name.value) ?? index
            guard !isUsed[last] else { continue }
            context.report(
                "Fragment \"\(fragment.name.value)\" is never used.", at: fragment.range)
        }
    }
}
