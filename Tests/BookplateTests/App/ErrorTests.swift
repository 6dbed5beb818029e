import GraphQL
import TestSupport
import Testing

@testable import Bookplate

@Suite struct ErrorTests {
    static let app = Shared { try await TestApp.start(catalog: []) }

    @Test(
        arguments: [
            (.unauthenticated, ["code": "UNAUTHENTICATED"]),
            (.notFound("M"), ["code": "NOT_FOUND"]),
            (.badUserInput(field: "f", "M"), ["code": "BAD_USER_INPUT", "field": "f"]),
            (.conflict("M"), ["code": "CONFLICT"]),
            (.conflict("M", id: "i"), ["code": "CONFLICT", "id": "i"]),
            (.rateLimited(retryAfterSeconds: 3), ["code": "RATE_LIMITED", "retryAfter": 3]),
            (.upstreamUnavailable("M"), ["code": "UPSTREAM_UNAVAILABLE"]),
            (.internalError, ["code": "INTERNAL_SERVER_ERROR", "requestId": "r"]),
        ] as [(BookplateError, Value)])
    func errorsHaveTheirCodesAndExtensions(error: BookplateError, extensions: Value) {
        let fieldError = error.fieldError(requestID: "r")
        #expect(.object(fieldError.extensions) == extensions)
        #expect(!fieldError.message.isEmpty)
    }

    /// Clients get only the request's ID, not the message of the database.
    @Test func databaseErrorsAreMasked() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        try await app.database.execute("ALTER TABLE shelves RENAME TO gone")
        let response = try await reader.execute("{ me { id shelves { id } } }")
        #expect(response.code == "INTERNAL_SERVER_ERROR")
        #expect(response.errors.first?["extensions", "requestId"] == "test-request")
        #expect(!"\(response.json)".contains("gone") && !"\(response.json)".contains("relation"))
        #expect(response["me"] == nil)
        // Requests that do not use the table still work.
        #expect(try await reader.execute("{ me { id } }")["me", "id"] == reader.id)
    }

    @Test func errorsDoNotAffectOtherFields() async throws {
        let reader = try await Self.app().makeReader()
        let response = try await reader.execute(
            """
            mutation {
              a: createShelf(input: {name: "A"}) { name }
              b: deleteShelf(id: "0198c0de-0000-7000-8000-00000000dead") { id }
            }
            """)
        #expect(response["a", "name"] == "A")
        let failing = try await reader.execute(
            #"{ me { id } book(id: "x") { id } node(id: "x") { id } genres { id } }"#)
        #expect(failing.errors.isEmpty)
        #expect(failing["book"] == .null)
        let serial = try await reader.execute(
            """
            mutation {
              first: createShelf(input: {name: "B"}) { position }
              second: createShelf(input: {name: "b"}) { position }
            }
            """)
        #expect(serial.errors.first?["path"] == ["second"])
        #expect(serial.json["data"] == .null)
        // Mutations before the failed one are not rolled back.
        #expect(
            try await reader.requireValue("{ me { shelves { name } } }", .null, "me", "shelves")
                .values(
                    of:
                        "name") == ["A", "B"])
    }
}
