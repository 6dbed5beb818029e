/// Variables that are used are defined by the operation.
///
/// Spec: https://spec.graphql.org/September2025/#sec-All-Variable-Uses-Defined
struct NoUndefinedVariablesRule: ValidationRule {
    func leave(
        _ operation: OperationDefinition, usages: [VariableUsage],
        in context: inout ValidationContext
    ) {
        guard !usages.isEmpty else { return }
        let defined = Set(operation.variables.map(\.name.value))
        for usage in usages where !defined.contains(usage.name) {
            let of = operation.name.map { " by operation \"\($0.value)\"" } ?? ""
            context.report(
                "Variable \"$\(usage.name)\" is not defined\(of).", at: usage.range, operation.range
            )
        }
    }
}
