/// Validates an executable document.
///
/// - Parameters:
///   - document: the parsed document.
///   - schema: the schema that it must match.
///   - limits: limits that are checked first. A document that exceeds one is not validated, and only
///     the exceeded limits are reported. Nil if there are none.
///   - options: the number of errors, and whether introspection and suggestions are allowed.
/// - Returns: the errors in the order of the document, with the messages of graphql-js and of the kind
///   `invalidDocument`; empty for a valid document. If comparing its fields takes too
///   long, there is an error of the kind `limitExceeded`.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Validation
public func validate(
    _ document: Document, against schema: Schema, limits: OperationLimits? = nil,
    options: ValidationOptions = ValidationOptions()
) -> [GraphQLError] {
    if let limits {
        let errors = checkLimits(document, against: schema, limits: limits)
        if !errors.isEmpty { return errors }
    }
    var rules = SpecifiedRules()
    return errors(of: &rules, in: document, against: schema, options: options)
}

func errors<Rules: ValidationRule>(
    of rules: inout Rules, in document: Document, against schema: Schema, options: ValidationOptions
) -> [GraphQLError] {
    var context = ValidationContext(schema: schema, document: document, options: options)
    walk(&rules, in: &context)
    return context.errors()
}
