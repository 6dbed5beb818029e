import GraphQL
import TestSupport
import Testing

/// The request parameter `onError` over the product's fields.
@Suite struct OnErrorTests {
    private static let app = Shared { try await TestApp.start() }

    /// The first field fails.
    private static let mutation = """
        mutation {
          empty: createBook(input: {title: ""}) { title }
          book: createBook(input: {title: "Emma"}) { title }
        }
        """

    private func titles(of reader: TestReader) async throws -> [Value] {
        let response = try await reader.execute("{ me { books(first: 5) { nodes { title } } } }")
        return response.json["data"]?["me"]?["books"]?["nodes"]?.list?.compactMap { $0["title"] }
            ?? []
    }

    @Test func nullLeavesOtherRootFields() async throws {
        let reader = try await Self.app().makeReader()
        let response = try await Self.app().execute(
            Self.mutation, token: reader.token, onError: "NULL")
        #expect(response.json["data"]?["empty"] == .null)
        #expect(response.json["data"]?["book"]?["title"] == .string("Emma"))
        #expect(response.json["errors"]?.list?.count == 1)
        #expect(try await titles(of: reader) == [.string("Emma")])
    }

    @Test func haltKeepsLaterRootFieldsFromRunning() async throws {
        let reader = try await Self.app().makeReader()
        let response = try await Self.app().execute(
            Self.mutation, token: reader.token, onError: "HALT")
        #expect(response.json["data"] == .null)
        #expect(response.json["errors"]?.list?.count == 1)
        #expect(try await titles(of: reader) == [])
    }

    @Test(arguments: [nil, "PROPAGATE", .null] as [Value?])
    func errorsPropagateByDefault(onError: Value?) async throws {
        let reader = try await Self.app().makeReader()
        let response = try await Self.app().execute(
            Self.mutation, token: reader.token, onError: onError)
        #expect(response.json["data"] == .null)
        #expect(try await titles(of: reader) == [.string("Emma")])
    }

    @Test(arguments: ["null", "ABORT", "", 1, ["NULL"]] as [Value])
    func otherValuesAreRefused(onError: Value) async throws {
        let response = try await Self.app().execute("{ __typename }", onError: onError)
        #expect(response.isRequestError)
        #expect(
            response.json["errors"]?.list?.first?["extensions"]?["code"]
                == .string("BAD_USER_INPUT"))
    }
}
