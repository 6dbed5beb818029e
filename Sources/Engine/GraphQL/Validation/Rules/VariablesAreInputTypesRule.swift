/// The types of variables are input types.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Variables-Are-Input-Types
struct VariablesAreInputTypesRule: ValidationRule {
    func enter(_ variable: VariableDefinition, in context: inout ValidationContext) {
        guard let type = context.schema.type(named: variable.type.namedType), !type.isInput else {
            return
        }
        context.report(
            "Variable \"$\(variable.name.value)\" cannot be non-input type "
                + "\"\(print(variable.type))\".", at: variable.type.range)
    }
}
