import Foundation
import GraphQLTypeGeneration
import Testing

@Suite struct GenerateTypesTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()

    @Test func generatesTheSnapshot() throws {
        let schema = try Data(contentsOf: Self.folder.appending(path: "schema.graphql"))
        let code = try generateTypes(
            SchemaFiles([.init(path: "schema.graphql", bytes: Array(schema))]))
        let snapshot = Self.folder.appending(path: "Snapshot/GraphQLTypes.txt")
        if ProcessInfo.processInfo.environment["BOOKPLATE_UPDATE_SNAPSHOTS"] == "1" {
            try Data(code.utf8).write(to: snapshot)
            Issue.record("wrote \(snapshot.path)")
        }
        #expect(try String(decoding: Data(contentsOf: snapshot), as: UTF8.self) == code)
    }

    @Test(
        arguments: [
            (
                ["type Query {\n  a: Int\n  b: }"],
                "0.graphql:3:6: error: Syntax Error: Expected Name, found \"}\"."
            ),
            (
                ["type Query { a: Absent }\r\n", "# Only a comment.\rtype C {\n  d: Missing!\n}"],
                "0.graphql:1:17: error: Unknown type \"Absent\".\n"
                    + "1.graphql:3:6: error: Unknown type \"Missing\"."
            ),
            (["type A { b: Int }"], "0.graphql:1:1: error: Query root type must be provided."),
            (
                ["type Query { a: A }", "type A { query: Query }"],
                "1.graphql:1:10: error: The field \"A.query\" returns a root type, which has no objects."
            ),
            (
                ["type Query { a: Context }\nscalar Context"],
                "0.graphql:2:8: error: The generated code needs the name \"Context\"."
            ),
            (
                ["type Query { a: A }", "type A { a: Int }\ntype AFields { a: Int }"],
                "1.graphql:2:6: error: The protocol for the fields of \"A\" has the name \"AFields\" too."
            ),
        ])
    func reportsErrorsWithFileLineAndColumn(texts: [String], message: String) throws {
        let files = texts.enumerated().map { index, text in
            SchemaFiles.File(path: "\(index).graphql", bytes: Array(text.utf8))
        }
        let failure = #expect(throws: SchemaFiles.Failure.self) {
            _ = try generateTypes(SchemaFiles(files))
        }
        #expect(failure?.description == message)
    }
}
