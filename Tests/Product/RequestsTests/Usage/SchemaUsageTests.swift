import GraphQL
import GraphQLServing
import JobQueue
import Postgres
import TestBasics
import TestSupport
import Testing

@testable import Bookplate
@testable import Operations
@testable import Requests

/// The counts of the elements of the schema that apps use.
@Suite struct SchemaUsageTests {
    private static let ios = ClientApp(name: "ios", version: "1.2")

    /// Stores the counts of an app, and returns all: `alpha ios 1.2: Query.me 2`.
    private func stored(_ app: TestApp) async throws -> [String] {
        try await app.services.environment.usage.store(in: app.pool)
        return try await records(app, days: 1).map {
            "\($0.tenant ?? "-") \($0.app) \($0.version): \($0.coordinate) \($0.uses)"
        }
    }

    private func records(_ app: TestApp, days: Int) async throws -> [UsageRecord] {
        try await app.database.withConnection { try UsageRecord.all(days: days, $0) }
    }

    @Test func operationsAreCountedByApp() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        _ = try await stored(app)
        try await app.database.execute("DELETE FROM schema_usage")
        for (client, count) in [(Self.ios, 2), (ClientApp(), 1)] {
            for _ in 0..<count {
                _ = try await app.execute("{ me { id } }", token: reader.token, app: client)
            }
        }
        _ = try await app.execute("{ genres { name } }", app: Self.ios)
        _ = try await app.execute("{ nothing }", token: reader.token, app: Self.ios)
        #expect(
            try await stored(app) == [
                "- ios 1.2: Genre.name 1", "- ios 1.2: Query.genres 1",
                "alpha ios 1.2: Query.me 2", "alpha  : Query.me 1",
                "alpha ios 1.2: User.id 2", "alpha  : User.id 1",
            ])
        // A second call adds to the counts.
        _ = try await app.execute("{ me { id } }", token: reader.token, app: Self.ios)
        #expect(try await stored(app).contains("alpha ios 1.2: User.id 3"))
        // Nothing is counted twice.
        #expect(try await stored(app).contains("alpha ios 1.2: User.id 3"))
    }

    @Test func inputsAndSubscriptionsAreCounted() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        _ = try await app.execute(
            "mutation($input: CreateBookInput!) { createBook(input: $input) { id } }",
            ["input": ["title": "Solaris", "status": "READING"]], token: reader.token,
            app: Self.ios)
        let subscription = try await app.subscribe(
            "subscription { changes { nodeId } }", token: reader.token)
        await subscription.cancel()
        let counts = try await stored(app)
        for used in [
            "alpha ios 1.2: Mutation.createBook 1", "alpha ios 1.2: Mutation.createBook(input:) 1",
            "alpha ios 1.2: CreateBookInput.title 1", "alpha ios 1.2: CreateBookInput.status 1",
            "alpha ios 1.2: ReadingStatus.READING 1", "alpha  : Subscription.changes 1",
        ] {
            #expect(counts.contains(used), "\(used)")
        }
        #expect(!counts.contains { $0.contains("CreateBookInput.fetchCover") })
    }

    @Test func countsAreKeptIfTheyCannotBeStored() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        try await app.database.execute(
            "REVOKE EXECUTE ON FUNCTION record_schema_usage FROM bookplate_app")
        _ = try await app.execute("{ me { id } }", token: reader.token, app: Self.ios)
        await #expect(throws: PostgresError.self) {
            try await app.services.environment.usage.store(in: app.pool)
        }
        _ = try await app.execute("{ me { id } }", token: reader.token, app: Self.ios)
        try await app.database.execute(
            "GRANT EXECUTE ON FUNCTION record_schema_usage TO bookplate_app")
        #expect(try await stored(app).contains("alpha ios 1.2: User.id 2"))
    }

    @Test func appsBeyondTheLimitAreCountedTogether() async throws {
        let app = try await TestApp.start(catalog: [])
        let (alpha, beta) = (try await app.makeReader(), try await app.makeReader(.beta))
        let limit = SchemaUsage.clientsPerTenantMax
        // The tables enforce the limit across servers, and each server before that.
        for range in [0..<limit / 2, limit / 2..<limit * 2] {
            for number in range {
                _ = try await app.execute(
                    "{ me { id } }", token: alpha.token,
                    app: ClientApp(name: "app", version: "\(number)"))
            }
            try await app.services.environment.usage.store(in: app.pool)
        }
        _ = try await app.execute("{ me { id } }", token: beta.token, app: Self.ios)
        try await app.services.environment.usage.store(in: app.pool)
        let found = try await records(app, days: 1).filter { $0.coordinate == "User.id" }
        let apps = found.filter { $0.tenant == "alpha" && $0.app == "app" }
        #expect(apps.count > limit / 2 && apps.count <= limit)
        let others = found.filter { $0.app == "(other)" }
        #expect(others.map(\.tenant) == ["alpha"])
        // No use is missing.
        let uses = (apps + others).reduce(0) { (sum: Int, record: UsageRecord) in sum + record.uses
        }
        #expect(uses == limit * 2)
        #expect(found.contains { $0.tenant == "beta" && $0.app == "ios" })
    }

    @Test func oldCountsAreDeleted() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        _ = try await app.execute("{ me { id } }", token: reader.token, app: Self.ios)
        _ = try await stored(app)
        try await app.database.execute(
            """
            UPDATE schema_usage SET day = day - \(PruneChanges.usageKeptDays + 1) WHERE coordinate = 'User.id';
            UPDATE schema_usage SET day = day - 200 WHERE coordinate = 'Query.me'
            """)
        for (days, isCovered) in [(100, true), (1000, false)] {
            let covers = try await app.database.withConnection {
                try UsageRecord.covers(days: days, $0)
            }
            #expect(covers == isCovered)
        }
        let worker = try await TestWorker.start(app.database, [PruneChanges()])
        try await waitUntil("old counts are deleted") {
            try await !records(app, days: 1000).contains { $0.coordinate == "User.id" }
        }
        await worker.stop()
        #expect(try await records(app, days: 1000).contains { $0.coordinate == "Query.me" })
    }

    @Test func countsOfARemovedTenantAreDeleted() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader(.beta)
        _ = try await app.execute("{ me { id } }", token: reader.token, app: Self.ios)
        #expect(try await stored(app).contains { $0.hasPrefix("beta") })
        _ = try await app.execute("{ me { id } }", token: reader.token, app: Self.ios)
        try await app.database.execute(
            "DELETE FROM users; DELETE FROM tenants WHERE slug = 'beta'")
        #expect(try await !stored(app).contains { $0.hasPrefix("beta") })
    }

    @Test(arguments: [
        ("ios", "ios"), ("Book Shelf 2.1-beta", "Book Shelf 2.1-beta"), ("a@b\u{7}é", "a_b___"),
        (String(repeating: "x", count: 65), String(repeating: "x", count: 64)),
        ("(other)", "_other_"),
    ])
    func namesOfAppsAreCleaned(given: String, cleaned: String) {
        #expect(ClientApp(name: given, version: given).name == cleaned)
        #expect(ClientApp(name: given, version: given).version == cleaned)
    }
}
