/// Arguments are defined by their field or directive.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Argument-Names
struct KnownArgumentNamesRule: ValidationRule {
    func enter(_ argument: Argument, in context: inout ValidationContext) {
        guard context.argument == nil else { return }
        let name = argument.name.value
        let (owner, known): (String, [InputValueDefinition])
        if let directive = context.directive {
            (owner, known) = ("directive \"@\(directive.name)\"", directive.arguments)
        } else if !context.isInDirective, let field = context.field, let type = context.parentType {
            (owner, known) = ("field \"\(type.name).\(field.name)\"", field.arguments)
        } else {
            return
        }
        let suggestion = context.suggestion(for: name, among: known.map(\.name))
        context.report("Unknown argument \"\(name)\" on \(owner)." + suggestion, at: argument.range)
    }
}
