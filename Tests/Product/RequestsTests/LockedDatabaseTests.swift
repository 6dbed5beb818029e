import GraphQL
import Postgres
import TestSupport
import Testing

@testable import Bookplate
@testable import Requests

/// Requests that wait in vain for a lock of the database.
@Suite struct LockedDatabaseTests {
    /// Which of the timeouts of the database ends the wait.
    enum Timeout: CaseIterable, Sendable {
        case statement, lock
    }

    enum Lock: CaseIterable, Sendable {
        /// A table is locked against reading.
        case table
        /// A row of the reader is locked against writing.
        case row
    }

    private static func start(_ timeout: Timeout) async throws -> TestApp {
        func configure(_ configuration: inout PostgresConfiguration) {
            switch timeout {
            case .statement: configuration.statementTimeout = .milliseconds(300)
            case .lock:
                if var url = try? ConnectionString(configuration.url) {
                    url["options"] = "-c lock_timeout=300"
                    configuration.url = url.description
                }
            }
        }
        return try await TestApp.start(catalog: [], configure)
    }

    @Test(arguments: Timeout.allCases, Lock.allCases)
    func requestThatWaitsInVainHasNoEffectAndCanBeRepeated(
        timeout: Timeout, lock: Lock
    ) async throws {
        let app = try await Self.start(timeout)
        let reader = try await app.makeReader()
        let id = try #require(reader.id.string)
        let (statement, request) =
            switch lock {
            case .table:
                ("LOCK TABLE books", "{ me { books(first: 1) { nodes { id } } } }")
            case .row:
                (
                    "SELECT FROM users WHERE id = '\(id)' FOR UPDATE",
                    #"mutation { createShelf(input: {name: "New"}) { id } }"#
                )
            }
        let connection = try AdminConnection(try app.database.url())
        try connection.execute("BEGIN; \(statement)")
        #expect(await readiness(of: app.pool, after: app.services.environment.timeouts) == nil)
        let response = try await reader.execute(request)
        #expect(
            response.errors.first?["extensions"]
                == ["code": "SERVICE_UNAVAILABLE", "retryAfter": 1, "outcome": "NOT_DONE"],
            "\(response.json)")
        #expect(response.refusal == .unavailable(retryAfterSeconds: 1))
        // A locked row concerns one reader, and a locked table almost all of them.
        let reason = await readiness(of: app.pool, after: app.services.environment.timeouts)
        #expect(
            reason?.contains("the database does not respond to requests")
                == (lock == .table ? true : nil), "\(reason ?? "ready")")
        try connection.execute("COMMIT")
        #expect(await readiness(of: app.pool, after: app.services.environment.timeouts) == nil)
        #expect(try await reader.execute(request).errors.isEmpty)
    }
}
