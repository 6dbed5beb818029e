import GraphQL
import TestSupport
import Testing

@testable import Bookplate
@testable import Requests

/// `Subscription.changes`, executed without a transport.
@Suite struct ChangesSubscriptionTests {
    static let app = Shared { try await TestApp.start(catalog: []) }

    private static let live = """
        subscription($after: String) {
          changes(after: $after) { cursor kind typename nodeId node { id ... on Book { title } } }
        }
        """

    private static func cursor(_ reader: TestReader) async throws -> Value {
        var cursor = Value.null
        while true {
            let page = try await reader.requireValue(
                "query($c: String) { changes(after: $c, first: 500) { pageInfo { endCursor hasNextPage } } }",
                ["c": cursor], "changes")
            cursor = page["pageInfo", "endCursor"] ?? .null
            if page["pageInfo", "hasNextPage"] == false { return cursor }
        }
    }

    @Test func beginsAtTheEndOfTheLogWithoutACursor() async throws {
        let reader = try await Self.app().makeReader()
        _ = try await reader.makeBook("Before")
        let live = try await reader.subscribe(Self.live)
        let id = try await reader.makeBook("After")
        let change = await live.next()["data", "changes"]
        #expect(change?["kind"] == "CREATED")
        #expect(change?["typename"] == "Book")
        #expect(change?["nodeId"] == id)
        #expect(change?["node"] == ["id": id, "title": "After"])
    }

    @Test func sendsMissedChangesFirst() async throws {
        let reader = try await Self.app().makeReader()
        let start = try await Self.cursor(reader)
        let ids = try await reader.makeBooks(120)
        let live = try await reader.subscribe(Self.live, ["after": start])
        var received: [Value] = []
        for _ in ids { received.append(await live.next()["data", "changes", "nodeId"] ?? .null) }
        #expect(Set(received.map { "\($0)" }) == Set(ids.map { "\($0)" }))
        let shelf = try await reader.makeShelf("Live")
        let last = await live.next()["data", "changes"]
        #expect(last?["nodeId"] == shelf)

        // A new subscription continues after the cursor of any event, and sends each change once.
        let later = try await reader.makeShelf("Later")
        let resumed = try await reader.subscribe(Self.live, ["after": last?["cursor"] ?? .null])
        #expect(await resumed.next()["data", "changes", "nodeId"] == later)
        let newest = try await reader.makeShelf("Newest")
        #expect(await resumed.next()["data", "changes", "nodeId"] == newest)
    }

    @Test func deletedObjectsHaveNoNode() async throws {
        let reader = try await Self.app().makeReader()
        let id = try await reader.makeBook("Gone")
        let live = try await reader.subscribe(Self.live)
        _ = try await reader.execute(
            "mutation($id: ID!) { deleteBook(id: $id) { id } }", ["id": id])
        let change = await live.next()["data", "changes"]
        #expect(change?["kind"] == "DELETED")
        #expect(change?["node"] == .null)
        #expect(change?["nodeId"] == id)
    }

    @Test func restoredBooksAreSentAsCreated() async throws {
        let reader = try await Self.app().makeReader()
        let id = try await reader.makeBook("Back")
        _ = try await reader.execute(RestoreBookTests.delete, ["id": id])
        let live = try await reader.subscribe(Self.live)
        _ = try await reader.execute(RestoreBookTests.restore, ["id": id])
        let change = await live.next()["data", "changes"]
        #expect(change?["kind"] == "CREATED" && change?["typename"] == "Book")
        #expect(change?["node"] == ["id": id, "title": "Back"])
    }

    @Test func changesOfOtherUsersAreNotSent() async throws {
        let app = try await Self.app()
        let (mine, theirs) = (try await app.makeReader(), try await app.makeReader(.beta))
        let live = try await mine.subscribe(Self.live)
        // Another user's cursor gives no access to that user's changes.
        _ = try await theirs.makeBook("Theirs")
        let cursor = try await Self.cursor(theirs)
        _ = try await theirs.makeBook("Theirs, too")
        let curious = try await mine.subscribe(Self.live, ["after": cursor])
        let id = try await mine.makeBook("Mine")
        #expect(await live.next()["data", "changes", "nodeId"] == id)
        let another = try await mine.makeBook("Mine, too")
        #expect(await live.next()["data", "changes", "nodeId"] == another)
        let response = await curious.next()
        #expect(
            response["data", "changes", "nodeId"] == nil
                || response["data", "changes", "nodeId"] == id)
    }

    @Test func cursorOlderThanTheLogRequiresAReset() async throws {
        let app = try await Self.app()
        let reader = try await app.makeReader()
        let start = try await Self.cursor(reader)
        _ = try await reader.makeBooks(2)
        let user = reader.id.string ?? ""
        try await app.database.execute(
            """
            DELETE FROM changes c
            WHERE c.user_id = '\(user)'
                AND c.seq < (SELECT max(n.seq) FROM changes n WHERE n.user_id = '\(user)')
            """)
        let live = try await reader.subscribe(Self.live, ["after": start])
        let error = await live.next()["errors", 0]
        #expect(error?["extensions", "code"] == "RESET_REQUIRED")
        let resumed = try await reader.subscribe(
            Self.live, ["after": error?["extensions", "cursor"] ?? .null])
        let id = try await reader.makeBook("New")
        #expect(await resumed.next()["data", "changes", "nodeId"] == id)
    }

    @Test(arguments: ["nonsense", "", "Yzk"])
    func invalidCursorIsRejected(cursor: String) async throws {
        let reader = try await Self.app().makeReader()
        let live = try await reader.subscribe(Self.live, ["after": .string(cursor)])
        let error = await live.next()["errors", 0]
        #expect(
            error?["extensions"] == [
                "code": "BAD_USER_INPUT", "reason": "INVALID_CURSOR", "field": "after",
            ])
    }

    @Test func anonymousCallerIsUnauthenticated() async throws {
        let live = try await Self.app().subscribe(Self.live, token: nil)
        #expect(await live.next()["errors", 0, "extensions", "code"] == "UNAUTHENTICATED")
    }

    @Test func subscriptionOfAnEndedSessionEndsAtTheNextEvent() async throws {
        let app = try await Self.app()
        let subject = "two devices of one"
        let first = try TestReader(app, subject, try await app.signIn(subject: subject))
        let second = try TestReader(app, subject, try await app.signIn(subject: subject))
        let live = try await first.subscribe(Self.live)
        _ = try await first.execute("mutation { signOut { endedSessions } }")
        _ = try await second.makeBook("Not for the first device")
        #expect(await live.next()["errors", 0, "extensions", "code"] == "UNAUTHENTICATED")
        #expect(await live.next() == .null)
    }

    @Test func pollingFindsChangesWithoutANotification() async throws {
        let app = try await Self.app()
        let reader = try await app.makeReader()
        let live = try await reader.subscribe(Self.live)
        // The connection that listens is closed, so the notification of the change may be lost.
        for _ in 0..<5 {
            try await app.database.execute(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE datname = current_database() AND query LIKE 'LISTEN%'
                """)
            let id = try await reader.makeBook("Polled")
            #expect(await live.next()["data", "changes", "nodeId"] == id)
        }
    }

    @Test func cancelledSubscriptionIsNotWatched() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        for _ in 0..<3 {
            let live = try await reader.subscribe(Self.live)
            _ = try await reader.makeBook("Watched")
            _ = await live.next()
            #expect(app.hub.watchCount == 1)
            await live.cancel()
            #expect(app.hub.watchCount == 0)
        }
    }

    @Test func idleSubscriptionsAndEventsRunFewPipelines() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        let live = try await reader.subscribe(Self.live)
        let idle = await app.pool.metrics().pipelineCount
        #expect(await live.next(within: .milliseconds(300)) == .null)
        // The first page, and a notification by which the hub checks that it receives them.
        #expect(await app.pool.metrics().pipelineCount - idle <= 2)
        let before = await app.pool.metrics().pipelineCount
        _ = try await reader.makeBook("One")
        _ = await live.next()
        // The mutation, the page of changes, the node, and the next page, which is empty.
        #expect(await app.pool.metrics().pipelineCount - before <= 5)
    }
}
