/// The schema supports the kind of every operation.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Operation-Type-Existence
struct KnownOperationTypesRule: ValidationRule {
    func enter(_ operation: OperationDefinition, in context: inout ValidationContext) {
        guard context.schema.rootType(of: operation.kind) == nil else { return }
        context.report(
            "The \(operation.kind.rawValue) operation is not supported by the schema.",
            at: operation.range)
    }
}
