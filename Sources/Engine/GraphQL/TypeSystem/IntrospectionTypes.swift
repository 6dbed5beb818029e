/// The introspection types, which are part of every schema.
///
/// They are ordinary definitions, so introspection queries are validated and planned like all
/// others.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Schema-Introspection.Schema-Introspection-Schema
enum IntrospectionTypes {
    static let all: [TypeDefinition] = [
        schema, directive, directiveLocation, type, field, inputValue, enumValue, typeKind,
    ]

    static let names = Set(all.map(\.name))

    /// `__schema`, on the query type.
    static let schemaField = FieldDefinition(
        name: "__schema", description: "The schema of this service.",
        arguments: [], type: nonNull("__Schema"))

    /// `__type(name:)`, on the query type.
    static let typeField = FieldDefinition(
        name: "__type", description: "The type with the given name, or null if it does not exist.",
        arguments: [
            InputValueDefinition(
                name: "name", description: nil, type: nonNull("String"), defaultValue: nil)
        ], type: named("__Type"))

    /// `__typename`, on every composite type.
    static let typenameField = FieldDefinition(
        name: "__typename", description: "The name of the object's type.",
        arguments: [], type: nonNull("String"))

    private static let schema = object(
        "__Schema",
        "The types, directives, and root operation types of this service.",
        [
            member("description", named("String")),
            member(
                "types", nonNullList("__Type"),
                description: "All types of the schema, including built-in types."),
            member("queryType", nonNull("__Type"), description: "The root type of queries."),
            member(
                "mutationType", named("__Type"),
                description: "The root type of mutations, or null if they are not supported."),
            member(
                "subscriptionType", named("__Type"),
                description: "The root type of subscriptions, or null if they are not supported."),
            member(
                "directives", nonNullList("__Directive"),
                description: "All directives that the service supports."),
        ])

    private static let directive = object(
        "__Directive",
        "An annotation that changes how a part of a document is validated or executed.",
        [
            member("name", nonNull("String"), description: "The name without the `@`."),
            member("description", named("String")),
            member(
                "isRepeatable", nonNull("Boolean"),
                description: "Whether the directive can be used more than once at one location."),
            member("locations", nonNullList("__DirectiveLocation")),
            member("args", nonNullList("__InputValue"), includesDeprecated: true),
        ])

    private static let type = object(
        "__Type",
        """
        A type of the schema, or a list or non-null type. `kind` determines which of the fields have a value; \
        the others are null.
        """,
        [
            member("kind", nonNull("__TypeKind")),
            member("name", named("String"), description: "Null for list and non-null types."),
            member("description", named("String")),
            member("specifiedByURL", named("String"), description: "Scalars only."),
            member(
                "fields", list("__Field"), description: "Objects and interfaces only.",
                includesDeprecated: true),
            member("interfaces", list("__Type"), description: "Objects and interfaces only."),
            member("possibleTypes", list("__Type"), description: "Interfaces and unions only."),
            member(
                "enumValues", list("__EnumValue"), description: "Enums only.",
                includesDeprecated: true),
            member(
                "inputFields", list("__InputValue"), description: "Input objects only.",
                includesDeprecated: true),
            member("ofType", named("__Type"), description: "List and non-null types only."),
            member("isOneOf", named("Boolean"), description: "Input objects only."),
        ])

    private static let field = object(
        "__Field", "A field of an object or interface type.",
        [
            member("name", nonNull("String")),
            member("description", named("String")),
            member("args", nonNullList("__InputValue"), includesDeprecated: true),
            member("type", nonNull("__Type")),
            member("isDeprecated", nonNull("Boolean")),
            member("deprecationReason", named("String")),
        ])

    private static let inputValue = object(
        "__InputValue", "An argument of a field or directive, or a field of an input object.",
        [
            member("name", nonNull("String")),
            member("description", named("String")),
            member("type", nonNull("__Type")),
            member(
                "defaultValue", named("String"),
                description: "The default value as a GraphQL literal, or null if there is none."),
            member("isDeprecated", nonNull("Boolean")),
            member("deprecationReason", named("String")),
        ])

    private static let enumValue = object(
        "__EnumValue", "A value of an enum.",
        [
            member("name", nonNull("String")),
            member("description", named("String")),
            member("isDeprecated", nonNull("Boolean")),
            member("deprecationReason", named("String")),
        ])

    private static let typeKind = enumeration(
        "__TypeKind", "The kind of a type.",
        [
            ("SCALAR", "A leaf value. May have `specifiedByURL`."),
            ("OBJECT", "Has `fields` and `interfaces`."),
            ("INTERFACE", "Has `fields`, `interfaces` and `possibleTypes`."),
            ("UNION", "Has `possibleTypes`."),
            ("ENUM", "Has `enumValues`."),
            ("INPUT_OBJECT", "Has `inputFields` and `isOneOf`."),
            ("LIST", "Has `ofType`, the type of the items."),
            ("NON_NULL", "Has `ofType`, the nullable type."),
        ])

    private static let directiveLocation = enumeration(
        "__DirectiveLocation", "A location at which a directive can be used.",
        DirectiveLocation.allCases.map { ($0.rawValue, nil) })

    private static func object(
        _ name: String, _ description: String, _ fields: [FieldDefinition]
    ) -> TypeDefinition {
        TypeDefinition(
            name: name, description: description,
            kind: .object(FieldsType(interfaces: [], fields: fields)))
    }

    private static func enumeration(
        _ name: String, _ description: String, _ values: [(name: String, description: String?)]
    ) -> TypeDefinition {
        TypeDefinition(
            name: name, description: description,
            kind: .enumeration(
                values.map { EnumValueDefinition(name: $0.name, description: $0.description) }))
    }

    private static func member(
        _ name: String, _ type: TypeReference, description: String? = nil,
        includesDeprecated: Bool = false
    ) -> FieldDefinition {
        let includeDeprecated = InputValueDefinition(
            name: "includeDeprecated", description: nil, type: nonNull("Boolean"),
            defaultValue: .literal("false"))
        return FieldDefinition(
            name: name, description: description,
            arguments: includesDeprecated ? [includeDeprecated] : [], type: type)
    }

    private static func named(_ name: String) -> TypeReference { .named(Name(name)) }

    private static func nonNull(_ name: String) -> TypeReference {
        .nonNull(named(name), range: .none)
    }

    /// `[name!]`
    private static func list(_ name: String) -> TypeReference { .list(nonNull(name), range: .none) }

    /// `[name!]!`
    private static func nonNullList(_ name: String) -> TypeReference {
        .nonNull(list(name), range: .none)
    }
}
