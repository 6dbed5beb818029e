/// Variables that are defined are used.
///
/// Spec: https://spec.graphql.org/September2025/#sec-All-Variables-Used
struct NoUnusedVariablesRule: ValidationRule {
    func leave(
        _ operation: OperationDefinition, usages: [VariableUsage],
        in context: inout ValidationContext
    ) {
        guard !operation.variables.isEmpty else { return }
        let used = Set(usages.map(\.name))
        for variable in operation.variables where !used.contains(variable.name.value) {
            let of = operation.name.map { " in operation \"\($0.value)\"" } ?? ""
            context.report(
                "Variable \"$\(variable.name.value)\" is never used\(of).", at: variable.range)
        }
    }
}
