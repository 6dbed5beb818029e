/// A variable fits every place where it is used.
///
/// Spec: https://spec.graphql.org/September2025/#sec-All-Variable-Usages-Are-Allowed
struct VariablesInAllowedPositionRule: ValidationRule {
    func leave(
        _ operation: OperationDefinition, usages: [VariableUsage],
        in context: inout ValidationContext
    ) {
        guard !usages.isEmpty, !operation.variables.isEmpty else { return }
        let variables = Dictionary(
            operation.variables.map { ($0.name.value, Variable($0)) },
            uniquingKeysWith: { _, last in last })
        for usage in usages {
            guard let variable = variables[usage.name], let type = usage.type,
                context.schema.type(named: variable.namedType) != nil
            else { continue }
            if !isAllowed(variable, at: type, usage, in: context.schema) {
                context.report(
                    "Variable \"$\(usage.name)\" of type \"\(print(variable.type))\" used in position "
                        + "expecting type \"\(print(type))\".", at: variable.range, usage.range)
            }
            if let parent = usage.oneOfParent, !variable.type.isNonNull {
                context.report(
                    "Variable \"$\(usage.name)\" is of type \"\(print(variable.type))\" but must be "
                        + "non-nullable to be used for OneOf Input Object \"\(parent)\".",
                    at: variable.range, usage.range)
            }
        }
    }

    /// A definition, read once for all usages.
    private struct Variable {
        let type: TypeReference
        let namedType: String
        let hasNonNullDefault: Bool
        let range: SourceRange

        init(_ definition: VariableDefinition) {
            type = definition.type
            namedType = type.namedType
            hasNonNullDefault =
                switch definition.defaultValue?.kind {
                case nil, .null: false
                default: true
                }
            range = definition.range
        }
    }

    /// Spec: https://spec.graphql.org/September2025/#IsVariableUsageAllowed()
    private func isAllowed(
        _ variable: Variable, at type: TypeReference, _ usage: VariableUsage, in schema: Schema
    ) -> Bool {
        guard type.isNonNull, !variable.type.isNonNull else {
            return schema.isSubtype(variable.type, of: type)
        }
        return (variable.hasNonNullDefault || usage.hasLocationDefault)
            && schema.isSubtype(variable.type, of: type.nullable)
    }
}
