/// Fields of leaf types have no selection set, and all other fields have one.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Leaf-Field-Selections
struct ScalarLeafsRule: ValidationRule {
    func enter(_ field: Field, in context: inout ValidationContext) {
        guard let type = context.type, type.isLeaf == field.hasSelections,
            let definition = context.field
        else { return }
        let name = field.name.value
        if let selectionSet = field.selectionSet {
            context.report(
                "Field \"\(name)\" must not have a selection since type "
                    + "\"\(print(definition.type))\" has no subfields.", at: selectionSet.range)
        } else {
            context.report(
                "Field \"\(name)\" of type \"\(print(definition.type))\" must have a selection of "
                    + "subfields."
                    + (context.options.hasSuggestions ? " Did you mean \"\(name) { ... }\"?" : ""),
                at: field.range)
        }
    }
}
