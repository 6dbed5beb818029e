import GraphQL
import Testing

@testable import Admin

@Suite struct SchemaUsageTests {
    private static func schema() throws -> Schema {
        try buildSchema(
            Source(
                """
                type Query {
                  book(id: ID, number: Int @deprecated(reason: "Use `id`.")): String
                  title: String @deprecated(reason: "Use `book`.")
                  books(filter: Filter, order: Order): [String]
                }
                input Filter { text: String words: String @deprecated }
                enum Order { TITLE DATE @deprecated(reason: "Use `TITLE`.") }
                """))
    }

    @Test func deprecatedElementsAreListed() throws {
        let schema = try Self.schema()
        #expect(
            Set(schema.deprecatedElements) == [
                "Query.book(number:)", "Query.title", "Filter.words", "Order.DATE",
            ])
        #expect(schema.deprecation(at: "Query.title") == "Use `book`.")
        #expect(schema.deprecation(at: "Query.books") == nil)
    }

    @Test func reasonIsPrintedWithTheUses() throws {
        let schema = try Self.schema()
        func usage(_ coordinate: String) -> ElementUsage {
            ElementUsage(
                coordinate: coordinate, deprecation: schema.deprecation(at: coordinate), records: []
            )
        }
        #expect(
            usage("Query.title").lines == ["Query.title\t0 uses\tdeprecated: Use `book`."])
        #expect(usage("Query.books").lines == ["Query.books\t0 uses"])
        let unused = usage("Query.title").json
        #expect(unused["deprecationReason"] == .string("Use `book`."))
        #expect(unused["uses"] == .int(0) && unused["lastUsedOn"] == .null)
    }
}
