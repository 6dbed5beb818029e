/// The type of a variable is allowed at every position where it is used.
///
/// Spec: https://spec.graphql.org/September2025/#sec-All-Variable-Usages-Are-Allowed
struct VariablesInAllowedPositionRule: ValidationRule {
    private var names = NameSet()

    mutating func leave(
        _ operation: OperationDefinition, usages: [VariableUsage],
        in context: inout ValidationContext
    ) {
        guard !usages.isEmpty, !operation.variables.isEmpty else { return }
        var variables: [Variable] = []
        names.removeAll(namesCount: context.namesCount)
        for variable in operation.variables {
            names.insert(variable.nameID)
            variables.append(Variable(variable, in: context.schema))
        }
        for usage in usages {
            guard let index = names.position(of: usage.nameID), variables[index].isOfKnownType,
                !variables[index].isKnownToFit(usage), let type = usage.type
            else { continue }
            let variable = variables[index]
            if isAllowed(variable, at: type, usage, in: context.schema) {
                if usage.listDepth == 0 { variables[index].fits = usage.position }
            } else {
                context.report(
                    "Variable \"$\(usage.nameText)\" of type \"\(print(variable.type))\" used in position "
                        + "expecting type \"\(print(type))\".", at: variable.range, usage.range)
            }
            if let parent = usage.oneOfParent, !variable.type.isNonNull {
                context.report(
                    "Variable \"$\(usage.nameText)\" is of type \"\(print(variable.type))\" but must be "
                        + "non-nullable to be used for OneOf Input Object \"\(parent.name)\".",
                    at: variable.range, usage.range)
            }
        }
    }

    /// A variable definition, read once for all usages.
    private struct Variable {
        let type: TypeReference
        let isOfKnownType: Bool
        let hasNonNullDefault: Bool
        let range: SourceRange
        /// The position of the last usage that was allowed. Often the next usage is in the same
        /// position.
        var fits: InputValueDefinition?

        init(_ definition: VariableDefinition, in schema: Schema) {
            type = definition.type
            isOfKnownType = schema.type(named: type.namedType) != nil
            hasNonNullDefault =
                switch definition.defaultValue?.kind {
                case nil, .null: false
                default: true
                }
            range = definition.range
        }

        func isKnownToFit(_ usage: VariableUsage) -> Bool {
            fits != nil && fits === usage.position && usage.listDepth == 0
                && usage.oneOfParent == nil
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
