/// Fields of one input object literal have different names.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Input-Object-Field-Uniqueness
struct UniqueInputFieldNamesRule: ValidationRule {
    func enter(_ value: ValueNode, in context: inout ValidationContext) {
        switch value.kind {
        case .list(let items):
            for item in items { enter(item, in: &context) }
        case .object(let fields):
            check(fields, in: &context)
            for field in fields { enter(field.value, in: &context) }
        case .variable, .int, .float, .string, .boolean, .null, .enumeration:
            break
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
