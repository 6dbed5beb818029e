/// The field names of an input object literal are unique.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Input-Object-Field-Uniqueness
struct UniqueInputFieldNamesRule: ValidationRule {
    func enter(_ value: ValueNode, in context: inout ValidationContext) {
        // Check all objects in the value, in the order of the text.
        let tree = value.reference.tree
        let first = value.reference.index
        for index in first..<tree.nodes[first].next where tree.nodes[index].kind == .object {
            check(NodeReference(tree: tree, index: index).children(), in: &context)
        }
    }

    private func check(_ fields: NodeList<ObjectField>, in context: inout ValidationContext) {
        for group in context.groupsWithSameName(fields) {
            for field in group.dropFirst() {
                context.report(
                    "There can be only one input field named \"\(field.nameText)\".",
                    at: group[0].name.range, field.name.range)
            }
        }
    }
}
