import FoundationEssentials
import Glibc
import GraphQL
import TestSupport
import Testing

@testable import Bookplate

@Suite struct SchemaTests {
    /// The printed schema is identical to the file.
    @Test func printedSchemaMatchesTheFile() throws {
        let file = try String(
            contentsOfFile: TestCluster.project + "/schema.graphql", encoding: .utf8)
        #expect(BookplateSchema.text == file)
        let printed = printSchema(try BookplateSchema(sdl: file).schema)
        #expect(printed == file, "BOOKPLATE_UPDATE_SNAPSHOTS=1 rewrites the file")
        if printed != file, getenv("BOOKPLATE_UPDATE_SNAPSHOTS") != nil {
            try printed.write(
                toFile: TestCluster.project + "/schema.graphql", atomically: false, encoding: .utf8)
        }
    }

    @Test func everyFieldHasAResolver() throws {
        _ = try BookplateSchema(sdl: BookplateSchema.text)
    }

    @Test(arguments: [
        ("type Query {", "type Query {\n  invented: Int", "Query.invented has no resolver."),
        ("  hook: String\n", "", "The schema has no field FeedCard.hook."),
        (
            "  \"\"\"Deletes a book from the library and returns its id.\"\"\"\n  deleteBook(id: ID!): ID!\n",
            "", "The schema has no field Mutation.deleteBook."
        ),
    ])
    func fieldWithoutResolverOrSchemaIsReported(old: String, new: String, problem: String) {
        let sdl = BookplateSchema.text.replacing(old, with: new)
        let errors = #expect(throws: RequestErrors.self) { try BookplateSchema(sdl: sdl) }
        #expect(errors?.errors.map(\.message) == [problem])
    }
}
