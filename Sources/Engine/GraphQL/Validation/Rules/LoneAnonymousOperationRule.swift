/// An anonymous operation is the only operation of its document.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Lone-Anonymous-Operation
struct LoneAnonymousOperationRule: ValidationRule {
    func enter(_ operation: OperationDefinition, in context: inout ValidationContext) {
        guard operation.name == nil, context.operationsCount > 1 else { return }
        context.report(
            "This anonymous operation must be the only defined operation.", at: operation.range)
    }
}
