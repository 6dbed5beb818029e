/// The variable names of an operation are unique.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Variable-Uniqueness
struct UniqueVariableNamesRule: ValidationRule {
    func enter(_ operation: OperationDefinition, in context: inout ValidationContext) {
        for group in context.groupsWithSameName(operation.variables) {
            context.report(
                "There can be only one variable named \"$\(group[0].nameText)\".",
                at: group.map(\.name.range))
        }
    }
}
