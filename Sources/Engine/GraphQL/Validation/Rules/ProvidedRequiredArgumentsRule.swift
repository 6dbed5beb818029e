/// Required arguments are provided.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Required-Arguments
struct ProvidedRequiredArgumentsRule: ValidationRule {
    func leave(_ field: Field, in context: inout ValidationContext) {
        guard let definition = context.field, definition.hasRequiredArguments else { return }
        for argument in definition.arguments
        where argument.isRequired && !field.arguments.contains(argument.name) {
            context.report(
                "Field \"\(definition.name)\" argument \"\(argument.name)\" of type "
                    + "\"\(print(argument.type))\" is required, but it was not provided.",
                at: field.range)
        }
    }

    func leave(_ directive: Directive, in context: inout ValidationContext) {
        guard let definition = context.directive else { return }
        for argument in definition.arguments
        where argument.isRequired && !directive.arguments.contains(argument.name) {
            context.report(
                "Directive \"@\(definition.name)\" argument \"\(argument.name)\" of type "
                    + "\"\(print(argument.type))\" is required, but it was not provided.",
                at: directive.range)
        }
    }
}

extension NodeList<Argument> {
    fileprivate func contains(_ name: String) -> Bool { contains { $0.name.value == name } }
}
