import GraphQL
import TestSupport

/// A reader with a personal access token.
struct ScopedReader {
    let reader: TestReader
    let id: Value
    let secret: String

    init(
        _ reader: TestReader, _ scopes: [String], documents: [String]? = nil
    ) async throws {
        let created = try await reader.requireValue(
            """
            mutation($input: CreateAccessTokenInput!) {
              createAccessToken(input: $input) { secret token { id } }
            }
            """,
            [
                "input": [
                    "name": "script", "scopes": .list(scopes.map { .string($0) }),
                    "documents": documents.map { .list($0.map { .string($0) }) } ?? .null,
                ]
            ], "createAccessToken")
        self.reader = reader
        id = created["token", "id"] ?? .null
        secret = created["secret"]?.string ?? ""
    }

    func execute(_ query: String, _ variables: Value = .null) async throws -> TestResponse {
        try await reader.app.execute(query, variables, token: secret)
    }

    func revoke() async throws {
        _ = try await reader.requireValue(
            "mutation($id: ID!) { revokeAccessToken(id: $id) { id } }", ["id": id],
            "revokeAccessToken")
    }
}
