import Testing

@testable import Bookplate
@testable import Operations

@Suite struct DocumentManifestTests {
    static let apollo = """
        {"format": "apollo-persisted-query-manifest", "version": 1, "operations": [
          {"id": "a1", "name": "Me", "type": "query", "body": "query Me { me { id } }"},
          {"id": "b2", "name": "Out", "type": "mutation", "body": "mutation Out { signOut { endedSessions } }"}]}
        """

    @Test func readsApollosFormat() throws {
        let entries = try DocumentManifest(Array(Self.apollo.utf8)).entries
        #expect(entries.map(\.id) == ["a1", "b2"])
        #expect(entries.map(\.name) == ["Me", "Out"])
        #expect(entries.map(\.kind) == [.query, .mutation])
    }

    @Test func readsRelaysFormat() throws {
        let text = #"{"0f": "query Me { me { id } }", "1e": "{ __typename }"}"#
        let entries = try DocumentManifest(Array(text.utf8)).entries
        #expect(entries.map(\.id) == ["0f", "1e"])
        #expect(entries.map(\.name) == ["Me", nil])
        #expect(
            entries[1].sha256 == "7f56e67dd21ab3f30d1ff8b7bed08893f0a0db86449836189b361dd1e56ddb4b")
    }

    @Test(arguments: [
        ("{", "not JSON"), ("[]", "not a JSON object"), (#"{"a": 1}"#, "neither Apollo's format"),
        (#"{"format": "other", "version": 1, "operations": []}"#, "is not apollo-persisted"),
        (
            #"{"format": "apollo-persisted-query-manifest", "version": 2, "operations": []}"#,
            "version 1"
        ),
        (#"{"format": "apollo-persisted-query-manifest", "version": 1}"#, "no list of operations"),
        (
            #"{"format": "apollo-persisted-query-manifest", "version": 1, "operations": [{"id": "a"}]}"#,
            "has no ID or no body"
        ), (#"{"": "{ __typename }"}"#, "1 to 200 characters"),
    ])
    func malformedManifestsAreRejectedWithAReason(text: String, reason: String) {
        let problem = #expect(throws: DocumentManifest.Problem.self) {
            try DocumentManifest(Array(text.utf8))
        }
        #expect(problem?.message.contains(reason) == true)
    }

    @Test func findsInvalidDocuments() throws {
        let schema = try BookplateSchema(sdl: BookplateSchema.text).schema
        let text = #"{"good": "{ me { id } }", "bad": "{ me { password } }", "ugly": "{"}"#
        let problems = try DocumentManifest(Array(text.utf8)).problems(with: schema)
        #expect(problems.count == 2)
        #expect(problems[0].hasPrefix("bad: Cannot query field \"password\""))
        #expect(problems[1].hasPrefix("ugly: Syntax Error"))
    }
}
