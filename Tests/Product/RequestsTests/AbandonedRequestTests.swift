import GraphQL
import TestSupport
import Testing

@testable import Bookplate

/// Cancelled requests, and how metrics count them.
@Suite struct AbandonedRequestTests {
    private static let abandoned = #"bookplate_operations_abandoned_total{kind="query"}"#
    private static let internalErrors = #"bookplate_errors_total{code="INTERNAL_SERVER_ERROR"}"#

    private static func value(of metric: String, in app: TestApp) async -> Int {
        await app.services.metrics.text().split(separator: "\n")
            .first { $0.hasPrefix(metric + " ") }?
            .split(separator: " ").last.flatMap { Int($0) } ?? 0
    }

    /// Returns the response of a request that is cancelled while it waits for the database.
    private static func cancelled(
        _ app: TestApp, hasTimedOut: @escaping @Sendable () -> Bool
    ) async throws -> TestResponse {
        let reader = try await app.makeReader()
        return try await app.database.withConnection { connection in
            try connection.execute("BEGIN; LOCK TABLE shelves")
            let response = Task {
                try await app.execute(
                    "{ me { a: shelves { id } b: shelves { id } } }", token: reader.token,
                    hasTimedOut: hasTimedOut)
            }
            while try connection.query("SELECT FROM pg_locks WHERE NOT granted").count == 0 {}
            response.cancel()
            // The server cancels the statement of an abandoned request.
            while try connection.query("SELECT FROM pg_locks WHERE NOT granted").count > 0 {}
            try connection.execute("COMMIT")
            return response
        }.value
    }

    @Test func abandonedRequestsDoNotCountAsInternalErrors() async throws {
        let app = try await TestApp.start(catalog: [])
        let response = try await Self.cancelled(app, hasTimedOut: { false })
        #expect(response.code == "CLIENT_CLOSED_REQUEST")
        #expect(await Self.value(of: Self.abandoned, in: app) == 1)
        #expect(await Self.value(of: Self.internalErrors, in: app) == 0)
        #expect(!(await app.services.metrics.text().contains("CLIENT_CLOSED_REQUEST")))
    }

    /// The client still waits for the response, and the timeout is the server's fault.
    @Test func timedOutRequestsAreInternalErrors() async throws {
        let app = try await TestApp.start(catalog: [])
        let response = try await Self.cancelled(app, hasTimedOut: { true })
        #expect(response.code == "INTERNAL_SERVER_ERROR")
        #expect(response.errors.first?["extensions", "requestId"] == "test-request")
        #expect(await Self.value(of: Self.abandoned, in: app) == 0)
        #expect(await Self.value(of: Self.internalErrors, in: app) == 1)
    }

    @Test func internalErrorsAreCounted() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        try await app.database.execute("ALTER TABLE shelves RENAME TO gone")
        let response = try await reader.execute("{ me { shelves { id } } }")
        #expect(response.code == "INTERNAL_SERVER_ERROR")
        #expect(await Self.value(of: Self.internalErrors, in: app) == 1)
        #expect(await Self.value(of: Self.abandoned, in: app) == 0)
    }

    @Test func internalErrorsInSubscriptionEventsAreCounted() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        let live = try await reader.subscribe(
            "subscription { changes { node { ... on Shelf { books(first: 1) { nodes { id } } } } } }"
        )
        try await app.database.execute("ALTER TABLE shelf_books RENAME TO gone")
        _ = try await reader.execute(#"mutation { createShelf(input: {name: "New"}) { id } }"#)
        let event = await live.next()
        #expect(event["errors", 0, "extensions", "code"] == "INTERNAL_SERVER_ERROR")
        #expect(await Self.value(of: Self.internalErrors, in: app) == 1)
    }
}
