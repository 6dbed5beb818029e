/// The operation names of a document are unique.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Operation-Name-Uniqueness
struct UniqueOperationNamesRule: ValidationRule {
    private var known: [String: SourceRange] = [:]

    mutating func enter(_ operation: OperationDefinition, in context: inout ValidationContext) {
        guard context.operationsCount > 1, let name = operation.name else { return }
        if let first = known[name.value] {
            context.report(
                "There can be only one operation named \"\(name.value)\".", at: first, name.range)
        } else {
            known[name.value] = name.range
        }
    }
}
