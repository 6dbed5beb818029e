/// Selected fields are defined by their parent type.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Field-Selections
struct FieldsOnCorrectTypeRule: ValidationRule {
    func enter(_ field: Field, in context: inout ValidationContext) {
        guard context.field == nil, let type = context.parentType else { return }
        let name = field.name.value
        var suggestion = context.suggestion(
            typesWithField(name, of: type, in: context.schema), lead: "to use an inline fragment on"
        )
        if suggestion.isEmpty, let fields = type.fieldsType?.fields {
            suggestion = context.suggestion(for: name, among: fields.map(\.name))
        }
        context.report(
            "Cannot query field \"\(name)\" on type \"\(type.name)\"." + suggestion,
            at: field.range)
    }

    /// Returns the types that define the field and that a value of the abstract `type` can have,
    /// those shared by most of its possible types first.
    private func typesWithField(
        _ name: String, of type: TypeDefinition, in schema: Schema
    ) -> [String] {
        guard type.isAbstract else { return [] }
        var usageCounts: [String: Int] = [:]
        var names: [String] = []
        for possible in schema.possibleTypes(of: type) where possible.field(named: name) != nil {
            let interfaces = (possible.fieldsType?.interfaces ?? []).filter {
                schema.type(named: $0)?.field(named: name) != nil
            }
            for name in [possible.name] + interfaces {
                if usageCounts.updateValue((usageCounts[name] ?? 0) + 1, forKey: name) == nil {
                    names.append(name)
                }
            }
        }
        return names.sorted { left, right in
            let (leftCount, rightCount) = (usageCounts[left] ?? 0, usageCounts[right] ?? 0)
            if leftCount != rightCount { return leftCount > rightCount }
            // Supertypes before their subtypes.
            if schema.isPossibleType(right, of: left) { return true }
            if schema.isPossibleType(left, of: right) { return false }
            return naturallyPrecedes(left, right)
        }
    }
}
