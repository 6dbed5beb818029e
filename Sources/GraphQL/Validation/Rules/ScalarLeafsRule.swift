/// Leaves have no selections; everything else has.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Leaf-Field-Selections
struct ScalarLeafsRule: ValidationRule {
    func enter(_ field: Field, in context: inout ValidationContext) {
        guard let definition = context.field, let type = context.type else { return }
        if field.isPlain, type.isLeaf { return }
        let name = field.name.value
        switch (type.isLeaf, field.selectionSet) {
        case (true, let selectionSet?):
            context.report(
                "Field \"\(name)\" must not have a selection since type "
                    + "\"\(print(definition.type))\" has no subfields.", at: selectionSet.range)
        case (false, nil):
            context.report(
                "Field \"\(name)\" of type \"\(print(definition.type))\" must have a selection of "
                    + "subfields."
                    + (context.options.hasSuggestions ? " Did you mean \"\(name) { ... }\"?" : ""),
                at: field.range)
        case (true, nil), (false, _?):
            break
        }
    }
}
