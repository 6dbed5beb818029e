import Foundation
import GraphQL
import Testing

@testable import BookplateClient

/// The documents that the client sends are valid for the schema of the server.
@Suite struct DocumentTests {
    static let documents =
        BookplateClient.Operation.allCases.map(\.document)
        + SyncPosition.Stage.allCases.map(SyncDocuments.document) + [
            SyncDocuments.changes, SyncDocuments.feed, Imports.start, Imports.progress,
            Library.exportDocument,
        ]

    private static let schema = Result {
        var root = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
        for _ in 0..<4 { root.deleteLastPathComponent() }
        let file = root.appendingPathComponent("schema.graphql")
        return try buildSchema(Source(String(contentsOf: file, encoding: .utf8)))
    }

    @Test(arguments: documents) func documentsAreValid(_ document: String) throws {
        let schema = try Self.schema.get()
        #expect(validate(try parse(Source(document)), against: schema).map(\.message) == [])
    }
}
