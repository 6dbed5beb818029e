/// Fields of one input object literal have different names.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Input-Object-Field-Uniqueness
struct UniqueInputFieldNamesRule: ValidationRule {
    func enter(_ value: ValueNode, in context: inout ValidationContext) {
        // All objects in it, in the order of the text.
        let reference = value.reference
        for index in reference.index..<reference.node.next {
            let inner = NodeReference(tree: reference.tree, index: index)
            if inner.kind == .object { check(inner.children(), in: &context) }
        }
    }

    private func check(_ fields: NodeList<ObjectField>, in context: inout ValidationContext) {
        guard fields.count > 1 else { return }
        for group in groupsOfSame(fields.map(\.name)) {
            for name in group.dropFirst() {
                context.report(
                    "There can be only one input field named \"\(name.value)\".",
                    at: group[0].range, name.range)
            }
        }
    }
}
