/// Checks a document against every validation rule.
///
/// - Returns: the errors in the order of the document, with the wording of graphql-js and the code
///   `GRAPHQL_VALIDATION_FAILED`; empty for a valid document. A document whose fields take too long to compare has
///   one with `OPERATION_TOO_COMPLEX`.
///
/// - Parameter limits: checked first, where there are any: a document that exceeds one is not validated, and only the
///   limits are told of.
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
