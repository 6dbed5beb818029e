/// The scalars that are part of every schema.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Scalars.Built-in-Scalars
enum SpecifiedScalars {
    static let names: Set<String> = ["String", "Int", "Float", "Boolean", "ID"]

    static let all: [TypeDefinition] = [
        scalar("String", "Text: a sequence of Unicode scalar values."),
        scalar("Int", "A signed 32-bit integer."),
        scalar("Float", "A double-precision number (IEEE 754)."),
        scalar("Boolean", "`true` or `false`."),
        scalar(
            "ID",
            "A unique identifier of an object. Serialized as a string; integers are accepted as input."
        ),
    ]

    private static func scalar(_ name: String, _ description: String) -> TypeDefinition {
        TypeDefinition(name: name, description: description, kind: .scalar(specifiedByURL: nil))
    }
}

/// The directives that are part of every schema.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Type-System.Directives.Built-in-Directives
enum SpecifiedDirectives {
    static let names: Set<String> = ["include", "skip", "deprecated", "specifiedBy", "oneOf"]

    /// The default value of the `reason` argument of `@deprecated`.
    static let defaultDeprecationReason = "No longer supported"

    static let all: [DirectiveDefinition] = [
        DirectiveDefinition(
            name: "include",
            description: "Includes this selection only if the `if` argument is true.",
            arguments: [argument("if", "Boolean", "Included when true.")], isRepeatable: false,
            locations: [.field, .fragmentSpread, .inlineFragment]),
        DirectiveDefinition(
            name: "skip", description: "Skips this selection if the `if` argument is true.",
            arguments: [argument("if", "Boolean", "Skipped when true.")], isRepeatable: false,
            locations: [.field, .fragmentSpread, .inlineFragment]),
        DirectiveDefinition(
            name: "deprecated",
            description: "Marks an element that is still supported but should no longer be used.",
            arguments: [
                argument(
                    "reason", "String",
                    "The reason and the recommended replacement, in Markdown (CommonMark).",
                    default: .literal(print(StringValue(defaultDeprecationReason))))
            ], isRepeatable: false,
            locations: [
                .fieldDefinition, .argumentDefinition, .inputFieldDefinition, .enumValue,
            ]),
        DirectiveDefinition(
            name: "specifiedBy", description: "Specifies the behavior of a custom scalar.",
            arguments: [argument("url", "String", "The URL of the specification.")],
            isRepeatable: false, locations: [.scalar]),
        DirectiveDefinition(
            name: "oneOf",
            description: "Requires exactly one field of the input object, which must not be null.",
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

/// The directives for a response in several parts, which are part of a schema with incremental
/// delivery.
///
/// Spec: https://github.com/graphql/graphql-spec/pull/1110
enum IncrementalDirectives {
    static let all: [DirectiveDefinition] = [
        DirectiveDefinition(
            name: "defer",
            description:
                "Delivers the fragment after the rest of the response, if the `if` argument is true.",
            arguments: [
                argument(
                    "if", .nonNull(.named(Name("Boolean")), range: .none), "Deferred when true.",
                    default: .literal("true")),
                argument("label", .named(Name("String")), "A unique name in the operation."),
            ], isRepeatable: false, locations: [.fragmentSpread, .inlineFragment]),
        DirectiveDefinition(
            name: "stream",
            description:
                "Delivers items of the list after the rest of the response, if the `if` argument is true.",
            arguments: [
                argument(
                    "if", .nonNull(.named(Name("Boolean")), range: .none), "Streamed when true.",
                    default: .literal("true")),
                argument("label", .named(Name("String")), "A unique name in the operation."),
                argument(
                    "initialCount", .nonNull(.named(Name("Int")), range: .none),
                    "The number of items that are delivered with the rest of the response.",
                    default: .literal("0")),
            ], isRepeatable: false, locations: [.field]),
    ]

    private static func argument(
        _ name: String, _ type: TypeReference, _ description: String,
        default value: ValueNode? = nil
    ) -> InputValueDefinition {
        InputValueDefinition(
            name: name, description: description, type: type, defaultValue: value)
    }
}
