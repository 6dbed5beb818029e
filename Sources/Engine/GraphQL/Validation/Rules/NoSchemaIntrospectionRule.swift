/// Refuses `__schema` and `__type` where the options disable introspection. `__typename` is always allowed.
///
/// The specification has no such rule. graphql-js has `NoSchemaIntrospectionCustomRule`, which also reports every
/// field below `__schema`; this rule reports the two root fields only, wherever they are selected: in an operation, in
/// a fragment, or under an alias.
struct NoSchemaIntrospectionRule: ValidationRule {
    func enter(_ field: Field, in context: inout ValidationContext) {
        guard let reason = context.options.introspectionDisabledReason,
            let definition = context.field,
            definition === IntrospectionTypes.schemaField
                || definition === IntrospectionTypes.typeField
        else { return }
        context.report(
            "Cannot query field \"\(definition.name)\": introspection is disabled. \(reason)",
            at: field.range)
    }
}
