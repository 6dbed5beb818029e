/// Variables used by an operation and its fragments are defined by the operation.
///
/// Spec: https://spec.graphql.org/September2025/#sec-All-Variable-Uses-Defined
struct NoUndefinedVariablesRule: ValidationRule {
    private var defined = NameSet()

    mutating func leave(
        _ operation: OperationDefinition, usages: [VariableUsage],
        in context: inout ValidationContext
    ) {
        guard !usages.isEmpty else { return }
        defined.removeAll(namesCount: context.namesCount)
        for variable in operation.variables { defined.insert(variable.nameID) }
        for usage in usages where !defined.contains(usage.nameID) {
            let of = operation.name.map { " by operation \"\($0.value)\"" } ?? ""
            context.report(
                "Variable \"$\(usage.nameText)\" is not defined\(of).",
                at: usage.range, operation.range)
        }
    }
}
