import Testing

@testable import GraphQL

struct BuildSchemaTests {
    private func build(_ sdl: String) throws -> Schema {
        try buildSchema(try parse(Source(sdl), limits: .trusted))
    }

    @Test func mergesDefinitionsAndExtensions() throws {
        let schema = try build(
            """
            extend type Query implements N { b: Int }
            "Asks." type Query { a: Int }
            interface N { b: Int }
            union U = Query extend union U = T
            type T { a: E } enum E { A } extend enum E { B }
            input I { a: Int } extend input I @oneOf { b: Int }
            schema { query: Query } extend schema { mutation: T }
            """)
        #expect(schema.queryType.description == "Asks.")
        #expect(schema.queryType.fieldsType?.fields.map(\.name) == ["a", "b"])
        #expect(schema.queryType.fieldsType?.interfaces == ["N"])
        #expect(schema.mutationType?.name == "T")
        let union = try #require(schema.type(named: "U"))
        #expect(schema.possibleTypes(of: union).map(\.name) == ["Query", "T"])
        guard case .enumeration(let values)? = schema.type(named: "E")?.kind else {
            Issue.record("E is not an enum")
            return
        }
        #expect(values.map(\.name) == ["A", "B"])
        #expect(inputObject(of: schema, named: "I")?.isOneOf == true)
        #expect(inputObject(of: schema, named: "I")?.fields.count == 2)
    }

    @Test func usesDefaultRootTypeNamesWithoutSchemaDefinition() throws {
        let byName = try build(
            "type Query { a: Int } type Mutation { a: Int } type Subscription { a: Int }")
        #expect(byName.mutationType?.name == "Mutation")
        #expect(byName.subscriptionType?.name == "Subscription")
        let named = try build("schema { query: Q } type Q { a: Int } type Mutation { a: Int }")
        #expect(named.queryType.name == "Q")
        #expect(named.mutationType == nil)
    }

    @Test func includesReferencedBuiltInScalars() throws {
        let schema = try build("type Query { a: Int }")
        let scalars = schema.types.filter { if case .scalar = $0.kind { true } else { false } }
        #expect(scalars.map(\.name) == ["String", "Int", "Boolean"])
        #expect(
            schema.directives.map(\.name) == [
                "include", "skip", "deprecated", "specifiedBy", "oneOf",
            ])
        #expect(schema.type(named: "__Type")?.field(named: "isOneOf") != nil)
        let includeDeprecated = schema.type(named: "__Field")?.field(named: "args")?
            .argument(named: "includeDeprecated")
        #expect(includeDeprecated.map { GraphQL.print($0.type) } == "Boolean!")
        #expect(includeDeprecated?.isRequired == false)
    }

    @Test func appliesBuiltInDirectives() throws {
        let schema = try build(
            """
            type Query { a: S @deprecated b(c: Int @deprecated(reason: "old")): Int }
            scalar S @specifiedBy(url: "https://example.com")
            """)
        #expect(schema.queryType.field(named: "a")?.deprecationReason == "No longer supported")
        let argument = schema.queryType.field(named: "b")?.argument(named: "c")
        #expect(argument?.deprecationReason == "old")
        guard case .scalar(let url)? = schema.type(named: "S")?.kind else { return }
        #expect(url == "https://example.com")
    }

    @Test func introspectionIsValidatedLikeAnyQuery() throws {
        let schema = try build("type Query { a: Int }")
        let document = try parse(Source(introspectionQuery))
        #expect(validate(document, against: schema, limits: OperationLimits()).isEmpty)
        let wrong = try parse(Source("{ __schema { typs { name } } __type { name } }"))
        #expect(
            validate(wrong, against: schema).map(\.message) == [
                "Cannot query field \"typs\" on type \"__Schema\". Did you mean \"types\"?",
                "Field \"__type\" argument \"name\" of type \"String!\" is required, but it was not provided.",
            ])
    }
}

private func inputObject(of schema: Schema, named name: String) -> InputObjectType? {
    if case .inputObject(let type)? = schema.type(named: name)?.kind { type } else { nil }
}
