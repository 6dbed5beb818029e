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

    /// A request that waits for the database when it is cancelled.
    private static func cancelled(
        _ app: TestApp, hasTimedOut: @escaping @Sendable () -> Bool
    ) async throws -> Answer {
        let reader = try await app.newReader()
        return try await app.database.connected { connection in
            try connection.execute("BEGIN; LOCK TABLE shelves")
            let answer = Task {
                try await app.ask(
                    "{ me { a: shelves { id } b: shelves { id } } }", token: reader.token,
                    hasTimedOut: hasTimedOut)
            }
            while try connection.query("SELECT FROM pg_locks WHERE NOT granted").count == 0 {}
            answer.cancel()
            // The server cancels the statement of an abandoned request.
            while try connection.query("SELECT FROM pg_locks WHERE NOT granted").count > 0 {}
            try connection.execute("COMMIT")
            return answer
        }.value
    }

    @Test func anAbandonedRequestIsNoInternalError() async throws {
        let app = try await TestApp.start(catalog: [])
        let answer = try await Self.cancelled(app, hasTimedOut: { false })
        #expect(answer.code == "CLIENT_CLOSED_REQUEST")
        #expect(await Self.value(of: Self.abandoned, in: app) == 1)
        #expect(await Self.value(of: Self.internalErrors, in: app) == 0)
        #expect(!(await app.services.metrics.text().contains("CLIENT_CLOSED_REQUEST")))
    }

    /// Its client waits, and the server is to blame.
    @Test func aRequestThatTookTooLongIsAnInternalError() async throws {
        let app = try await TestApp.start(catalog: [])
        let answer = try await Self.cancelled(app, hasTimedOut: { true })
        #expect(answer.code == "INTERNAL_SERVER_ERROR")
        #expect(answer.errors.first?["extensions", "requestId"] == "test-request")
        #expect(await Self.value(of: Self.abandoned, in: app) == 0)
        #expect(await Self.value(of: Self.internalErrors, in: app) == 1)
    }

    @Test func realInternalErrorsCount() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.newReader()
        try await app.database.execute("ALTER TABLE shelves RENAME TO gone")
        let answer = try await reader.ask("{ me { shelves { id } } }")
        #expect(answer.code == "INTERNAL_SERVER_ERROR")
        #expect(await Self.value(of: Self.internalErrors, in: app) == 1)
        #expect(await Self.value(of: Self.abandoned, in: app) == 0)
    }

    @Test func internalErrorsInEventsOfASubscriptionCount() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.newReader()
        let live = try await reader.subscribe(
            "subscription { changes { node { ... on Shelf { books(first: 1) { nodes { id } } } } } }"
        )
        try await app.database.execute("ALTER TABLE shelf_books RENAME TO gone")
        _ = try await reader.ask(#"mutation { createShelf(input: {name: "New"}) { id } }"#)
        let event = await live.next()
        #expect(event["errors", 0, "extensions", "code"] == "INTERNAL_SERVER_ERROR")
        #expect(await Self.value(of: Self.internalErrors, in: app) == 1)
    }
}
