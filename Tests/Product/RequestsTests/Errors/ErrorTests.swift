import GraphQL
import Postgres
import TestSupport
import Testing

@testable import Bookplate
@testable import Requests

@Suite struct ErrorTests {
    static let app = Shared { try await TestApp.start(catalog: []) }

    @Test(
        arguments: [
            (.unauthenticated, ["code": "UNAUTHENTICATED"]),
            (.notFound(.noSuchBook), ["code": "NOT_FOUND", "reason": "NO_SUCH_BOOK"]),
            (
                .badUserInput(field: "f", .init(.outOfRange, min: 0.5, max: 5)),
                [
                    "code": "BAD_USER_INPUT", "reason": "OUT_OF_RANGE", "min": 0.5, "max": 5,
                    "field": "f",
                ]
            ),
            (.conflict(.init(.idTaken)), ["code": "CONFLICT", "reason": "ID_TAKEN"]),
            (
                .conflict(.init(.nameTaken, value: "A"), id: "i", field: "name"),
                ["code": "CONFLICT", "reason": "NAME_TAKEN", "field": "name", "id": "i"]
            ),
            (.rateLimited(retryAfterSeconds: 3), ["code": "RATE_LIMITED", "retryAfter": 3]),
            (
                .serviceUnavailable(retryAfterSeconds: 2),
                ["code": "SERVICE_UNAVAILABLE", "retryAfter": 2, "outcome": "NOT_DONE"]
            ),
            (
                .serviceUnavailable(retryAfterSeconds: 2, outcome: .unknown),
                ["code": "SERVICE_UNAVAILABLE", "retryAfter": 2, "outcome": "UNKNOWN"]
            ),
            (
                .upstreamUnavailable(.init(.sourcesUnavailable)),
                ["code": "UPSTREAM_UNAVAILABLE", "reason": "SOURCES_UNAVAILABLE"]
            ),
            (
                .operationTooComplex(.statementsMax, count: 1_001),
                ["code": "OPERATION_TOO_COMPLEX", "limit": "statementsMax", "max": 1_000]
            ),
            (.internalError, ["code": "INTERNAL_SERVER_ERROR", "requestId": "r"]),
        ] as [(BookplateError, Value)])
    func errorsHaveTheirCodesAndExtensions(error: BookplateError, extensions: Value) {
        let fieldError = error.fieldError(requestID: "r", language: nil)
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

    /// The connection is lost while the statement runs. The client sends the mutation again, with the same id.
    @Test func interruptedMutationsMayHaveBeenMade() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        let create: @Sendable () async throws -> TestResponse = {
            try await app.execute(
                #"mutation { createShelf(input: {id: "2f1d9a52-6a1c-4a38-9f0c-0d7e7b1f3a11", name: "A"}) { name } }"#,
                token: reader.token)
        }
        let interrupted = try await app.database.withConnection(as: nil) { connection in
            try connection.execute("BEGIN; LOCK TABLE shelves")
            let response = Task { try await create() }
            while try connection.query(
                """
                SELECT pg_terminate_backend(l.pid)
                FROM pg_locks l JOIN pg_database d ON d.oid = l.database
                WHERE d.datname = current_database() AND NOT l.granted
                """
            ).count == 0 {}
            try connection.execute("COMMIT")
            return response
        }.value
        #expect(interrupted.code == "SERVICE_UNAVAILABLE")
        #expect(interrupted.errors.first?["extensions", "outcome"] == "UNKNOWN")
        #expect(try await create()["createShelf", "name"] == "A")
    }

    @Test(
        arguments: [
            (.connectFailed(""), false, false, .notDone),
            (.connectFailed(""), false, true, .unknown),
            (.connectionLost(""), false, false, .unknown),
            (.connectionLost(""), true, false, .notDone),
            (.timeout, false, false, .unknown), (.timeout, true, false, .notDone),
            (.timeout, true, true, .unknown), (.poolExhausted, false, false, .notDone),
        ] as [(PostgresError, Bool, Bool, BookplateError.Outcome)])
    func lostConnectionsTellWhetherTheChangeMayHaveBeenMade(
        error: PostgresError, isReadOnly: Bool, hasWritten: Bool, outcome: BookplateError.Outcome
    ) async throws {
        let reported = try await Self.app().services.environment.bookplateError(
            error, "r", isReadOnly: isReadOnly, hasWritten: hasWritten)
        #expect(reported == .serviceUnavailable(retryAfterSeconds: 1, outcome: outcome))
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
