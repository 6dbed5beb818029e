/// Variables of one operation have different names.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Variable-Uniqueness
struct UniqueVariableNamesRule: ValidationRule {
    func enter(_ operation: OperationDefinition, in context: inout ValidationContext) {
        for group in context.groupsOfSame(operation.variables) {
            context.report(
                "There can be only one variable named \"$\(group[0].nameText)\".",
                at: group.map(\.name.range))
        }
    }
}
