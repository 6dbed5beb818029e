/// Type conditions and variable definitions refer to types that the schema defines.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Fragment-Spread-Type-Existence
struct KnownTypeNamesRule: ValidationRule {
    func enter(typeNamed name: Name, in context: inout ValidationContext) {
        guard context.schema.type(named: name.value) == nil else { return }
        let suggestion = context.suggestion(
            for: name.value, among: context.schema.types.map(\.name))
        context.report("Unknown type \"\(name.value)\"." + suggestion, at: name.range)
    }
}
