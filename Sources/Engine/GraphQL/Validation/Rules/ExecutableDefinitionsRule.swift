/// An executable document contains only operations and fragments.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Executable-Definitions
struct ExecutableDefinitionsRule: ValidationRule {
    func enter(_ definition: TypeSystemDefinition, in context: inout ValidationContext) {
        let (name, range) =
            switch definition {
            case .schema(let definition): ("schema", definition.range)
            case .type(let definition): ("\"\(definition.name.value)\"", definition.range)
            case .directive(let definition): ("\"\(definition.name.value)\"", definition.range)
            }
        context.report("The \(name) definition is not executable.", at: range)
    }
}
