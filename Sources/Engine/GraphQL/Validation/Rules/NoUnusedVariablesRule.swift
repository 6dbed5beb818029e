/// Variables defined by an operation are used by it or its fragments.
///
/// Spec: https://spec.graphql.org/September2025/#sec-All-Variables-Used
struct NoUnusedVariablesRule: ValidationRule {
    private var used = NameSet()

    mutating func leave(
        _ operation: OperationDefinition, usages: [VariableUsage],
        in context: inout ValidationContext
    ) {
        guard !operation.variables.isEmpty else { return }
        used.removeAll(namesCount: context.namesCount)
        for usage in usages { used.insert(usage.nameID) }
        for variable in operation.variables where !used.contains(variable.nameID) {
            let of = operation.name.map { " in operation \"\($0.value)\"" } ?? ""
            context.report(
                "Variable \"$\(variable.nameText)\" is never used\(of).", at: variable.range)
        }
    }
}
