import FoundationEssentials
import GraphQL
import TestSupport
import Testing

@testable import Bookplate

@Suite struct SchemaTests {
    /// The schema that is read is the schema that is served, to the byte.
    @Test func printedSchemaIsTheFile() throws {
        let file = try String(
            contentsOfFile: TestCluster.project + "/schema.graphql", encoding: .utf8)
        #expect(BookplateSchema.text == file)
        #expect(printSchema(try BookplateSchema(sdl: file).schema) == file)
    }

    @Test func everyFieldHasAResolver() throws {
        _ = try BookplateSchema(sdl: BookplateSchema.text)
    }

    @Test(arguments: [
        ("type Query {", "type Query {\n  invented: Int", "Query.invented has no resolver."),
        ("  hook: String\n", "", "The schema has no field FeedCard.hook."),
        ("  deleteBook(id: ID!): ID!\n", "", "The schema has no field Mutation.deleteBook."),
    ])
    func aFieldWithoutItsOtherHalfIsFound(old: String, new: String, problem: String) {
        let sdl = BookplateSchema.text.replacing(old, with: new)
        let errors = #expect(throws: RequestErrors.self) { try BookplateSchema(sdl: sdl) }
        #expect(errors?.errors.map(\.message) == [problem])
    }
}
