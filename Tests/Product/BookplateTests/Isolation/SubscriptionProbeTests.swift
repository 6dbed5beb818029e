import GraphQL
import TestSupport
import Testing

@testable import Bookplate

/// Subscriptions do not deliver another user's events, and require a valid token. All subscriptions of the schema are
/// tested.
@Suite struct SubscriptionProbeTests {
    static let app = Shared { try await TestApp.start() }

    static let fields = GeneratedProbeTests.schema.subscriptionType?.fieldsType?.fields ?? []
    static let probes = GeneratedProbe.forSubscriptions(in: GeneratedProbeTests.schema)

    private static let absent = "0198c0de-0000-7000-8000-00000000dead"

    @Test func probesIncludeTheIDArguments() {
        #expect(
            Set(Self.probes.map(\.path)).isSuperset(of: [
                "coverChanged.bookId", "importProgress.id",
            ]))
    }

    @Test(arguments: fields.map(\.name))
    func subscriptionsRequireAToken(name: String) async throws {
        let app = try await Self.app()
        let reader = try await app.makeReader()
        _ = try await reader.execute("mutation { signOut { endedSessions } }")
        let field = try #require(Self.fields.first { $0.name == name })
        let literals = Literals(schema: GeneratedProbeTests.schema)
        let arguments = field.arguments.filter(\.type.isNonNull)
            .map { "\($0.name): \"\(Self.absent)\"" }.joined(separator: ", ")
        let query =
            "subscription { \(name)\(arguments.isEmpty ? "" : "(\(arguments))")\(literals.selection(of: field.type, depth: 1)) }"
        for token in [nil, "", "a.b.c", reader.refreshToken, reader.token] {
            let response = try await app.subscribe(query, token: token).next()
            #expect(
                response["errors", 0, "extensions", "code"] == "UNAUTHENTICATED",
                "\(query): \(response)")
        }
    }

    /// IDs of another user's objects are indistinguishable from missing ones, and changes of these objects are not delivered.
    @Test(arguments: probes)
    func foreignIDsDeliverNoEvents(probe: GeneratedProbe) async throws {
        let app = try await Self.app()
        let victim = try await IsolationFixture.fill(try await app.makeReader())
        let imported = try await app.database.withConnection { connection in
            try connection.texts(
                "SELECT id::text FROM imports WHERE user_id = '\(victim.reader.id.string ?? "")'")
        }
        let ids =
            [victim.shelf, victim.book, victim.review, victim.card].compactMap(\.string) + imported
        let stranger = try await app.makeReader()
        var subscriptions: [String: TestSubscription] = [:]
        for id in ids + [Self.absent] {
            subscriptions[id] = try await stranger.subscribe(probe.query, ["id": .string(id)])
        }
        _ = try await victim.reader.makeShelf("New secret shelf")
        _ = try await victim.reader.setCover(
            """
            mutation($book: ID!, $image: Upload!) { setCover(id: $book, input: {image: $image}) { id } }
            """, victim.book, TestImage.png(seed: 2))
        try await app.database.execute(
            "UPDATE imports SET done = done + 1 WHERE user_id = '\(victim.reader.id.string ?? "")'")
        let unseen = await subscriptions[Self.absent]?.next(within: .milliseconds(300))
        for id in ids {
            #expect(
                await subscriptions[id]?.next(within: .milliseconds(300)) == unseen,
                "\(probe.query)")
        }
        // The owner receives the event, so there was one.
        if probe.path == "coverChanged.bookId" {
            let own = try await victim.reader.subscribe(probe.query, ["id": victim.book])
            _ = try await victim.reader.setCover(
                """
                mutation($book: ID!, $image: Upload!) { setCover(id: $book, input: {image: $image}) { id } }
                """, victim.book, TestImage.png(seed: 3))
            #expect(await own.next()["data", "coverChanged", "status"] == "READY")
        }
    }
}
