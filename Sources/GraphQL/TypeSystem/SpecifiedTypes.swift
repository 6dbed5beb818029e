/// The scalars every schema has.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Scalars.Built-in-Scalars
enum SpecifiedScalars {
    static let names: Set<String> = ["String", "Int", "Float", "Boolean", "ID"]

    static let all: [TypeDefinition] = [
        scalar("String", "Text: a sequence of Unicode scalar values."),
        scalar("Int", "A whole number of 32 bits with a sign."),
        scalar("Float", "A number of double precision (IEEE 754)."),
        scalar("Boolean", "`true` or `false`."),
        scalar(
            "ID", "An opaque key of an object. Written as a string; a whole number is taken, too."),
    ]

    private static func scalar(_ name: String, _ description: String) -> TypeDefinition {
        TypeDefinition(name: name, description: description, kind: .scalar(specifiedByURL: nil))
    }
}

/// The directives every schema has.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Type-System.Directives.Built-in-Directives
enum SpecifiedDirectives {
    static let names: Set<String> = ["include", "skip", "deprecated", "specifiedBy", "oneOf"]

    /// What `@deprecated` says where no reason is given.
    static let defaultDeprecationReason = "No longer supported"

    static let all: [DirectiveDefinition] = [
        DirectiveDefinition(
            name: "include",
            description: "Takes this part of the selection only where `if` is true.",
            arguments: [argument("if", "Boolean", "Included when true.")], isRepeatable: false,
            locations: [.field, .fragmentSpread, .inlineFragment]),
        DirectiveDefinition(
            name: "skip", description: "Leaves this part of the selection out where `if` is true.",
            arguments: [argument("if", "Boolean", "Skipped when true.")], isRepeatable: false,
            locations: [.field, .fragmentSpread, .inlineFragment]),
        DirectiveDefinition(
            name: "deprecated", description: "Still works, but should not be used any more.",
            arguments: [
                argument(
                    "reason", "String", "Why, and what to use instead, in Markdown (CommonMark).",
                    default: .literal(print(StringValue(defaultDeprecationReason))))
            ], isRepeatable: false,
            locations: [
                .fieldDefinition, .argumentDefinition, .inputFieldDefinition, .enumValue,
            ]),
        DirectiveDefinition(
            name: "specifiedBy", description: "Names the specification of a scalar.",
            arguments: [argument("url", "String", "Where the specification is found.")],
            isRepeatable: false, locations: [.scalar]),
        DirectiveDefinition(
            name: "oneOf", description: "Exactly one field must be given, and it must not be null.",
            arguments: [], isRepeatable: false, locations: [.inputObject]),
    ]

    private static func argument(
        _ name: String, _ type: String, _ description: String, default value: ValueNode? = nil
    ) -> InputValueDefinition {
        InputValueDefinition(
            name: name, description: description, type: .nonNull(.named(Name(type)), range: .none),
            defaultValue: value)
    }
}
