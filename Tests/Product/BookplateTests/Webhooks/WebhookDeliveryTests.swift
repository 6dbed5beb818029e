import GraphQL
import LoopbackHTTP
import Postgres
import TestBasics
import TestSupport
import Testing

@testable import Bookplate
@testable import Operations

/// The events that are sent, and their order.
@Suite struct WebhookDeliveryTests {
    static let world = Shared { try await WebhookWorld.start() }

    /// The change log after a cursor, as types, ids, and cursors.
    private func log(_ reader: TestReader, after cursor: Value) async throws -> [[Value]] {
        let changes = try await reader.requireValue(
            "query($after: String) { changes(after: $after, first: 500) { changes { cursor kind typename nodeId changedAt } } }",
            ["after": cursor], "changes", "changes")
        return (changes.list ?? []).map { change in
            let name = (change["typename"]?.string ?? "").replacing(/([a-z])([A-Z])/) {
                "\($0.1)_\($0.2)"
            }
            let type = "\(name).\(change["kind"]?.string ?? "")".lowercased()
            return [
                .string(type), change["nodeId"] ?? .null, change["cursor"] ?? .null,
                change["changedAt"] ?? .null,
            ]
        }
    }

    @Test func eachChangeIsSentOnceSignedAndInOrder() async throws {
        let world = try await Self.world()
        let receiver = try WebhookReceiver()
        let reader = try await world.app.makeReader()
        let before = try await reader.requireValue(
            "{ changes(first: 500) { pageInfo { endCursor } } }", .null, "changes", "pageInfo",
            "endCursor")
        let (webhook, secret) = try await world.add(receiver.url)
        let shelf = try await reader.makeShelf("New")
        let book = try await reader.makeBook("One", status: "READ", shelves: [shelf])
        try await reader.review(book, rating: 5)
        try await reader.makeBooks(3)
        _ = try await reader.execute(
            "mutation($id: ID!) { deleteBook(id: $id) { __typename } }", ["id": book])
        let expected = try await log(reader, after: before)
        #expect(expected.count > 8)
        try await receiver.wait(expected.count)
        try await waitUntil("all are delivered") {
            try await world.record(webhook).waiting == 0
        }
        let own = receiver.messages.filter { $0.user == reader.id }
        let sent = own.map { message -> [Value] in
            [
                .string(message.type), message.data["id"] ?? .null, message.data["cursor"] ?? .null,
                message.body["timestamp"] ?? .null,
            ]
        }
        #expect(sent == expected)
        #expect(Set(own.map(\.id)).count == own.count)
        #expect(own.allSatisfy { $0.isSigned(with: secret) && $0.signatures.count == 1 })
        #expect(own.allSatisfy { $0.headers["content-type"] == "application/json" })
        try await world.remove(webhook)
    }

    @Test(arguments: [
        ("FETCHING", "cover.searching"), ("READY", "cover.ready"), ("NOT_FOUND", "cover.not_found"),
        ("FAILED", "cover.failed"), ("NO_COVER", "cover.removed"),
    ])
    func coverEventsAreSent(status: String, type: String) async throws {
        let world = try await Self.world()
        let receiver = try WebhookReceiver()
        let reader = try await world.app.makeReader()
        let (webhook, _) = try await world.add(receiver.url, ["cover.*"])
        let book = try await reader.makeBook("Covered")
        // Everything that adds events locks the user before. Otherwise, events could be collected without this one.
        try await reader.executeSQL(
            """
            SELECT lock_user('\(reader.id.string ?? "")');
            INSERT INTO events (user_id, kind, payload)
            VALUES ('\(reader.id.string ?? "")', 'cover_changed',
                    '{"book_id": "\(book.string ?? "")", "status": "\(status)", "version": "v", "source": "URL"}')
            """)
        try await receiver.wait(1)
        #expect(receiver.types == [type])
        #expect(receiver.messages[0].data == ["userId": reader.id, "bookId": book])
        try await world.remove(webhook)
    }

    @Test func onlyRequestedTypesAreSent() async throws {
        let world = try await Self.world()
        let receiver = try WebhookReceiver()
        let (webhook, _) = try await world.add(receiver.url, ["shelf.updated", "note.*"])
        let reader = try await world.app.makeReader()
        let shelf = try await reader.makeShelf("A")
        let book = try await reader.makeBook("One")
        _ = try await reader.execute(
            "mutation($id: ID!) { updateShelf(id: $id, input: {name: \"B\"}) { id } }",
            ["id": shelf])
        _ = try await reader.execute(
            "mutation($id: ID!) { createNote(input: {bookId: $id, text: \"x\"}) { id } }",
            ["id": book])
        try await receiver.wait(2)
        #expect(receiver.types == ["shelf.updated", "note.created"])
        try await world.remove(webhook)
    }

    @Test func tenantsReceiveOnlyTheEventsOfTheirUsers() async throws {
        let world = try await Self.world()
        let receivers = [try WebhookReceiver(), try WebhookReceiver()]
        let readers = [
            try await world.app.makeReader(.alpha), try await world.app.makeReader(.beta),
        ]
        let ids = [
            try await world.add(receivers[0].url, ["shelf.*"], to: .alpha).id,
            try await world.add(receivers[1].url, ["shelf.*"], to: .beta).id,
        ]
        for name in ["A", "B", "C"] {
            for reader in readers { _ = try await reader.makeShelf(name) }
        }
        for (receiver, reader) in zip(receivers, readers) {
            try await receiver.wait(3)
            #expect(receiver.messages.allSatisfy { $0.user == reader.id })
        }
        for id in ids { try await world.remove(id) }
    }

    @Test func accountDeletionReplacesTheEventsOfTheUser() async throws {
        let world = try await Self.world()
        let receiver = try WebhookReceiver { _ in [.response(500)] }
        let reader = try await world.app.makeReader()
        let (webhook, _) = try await world.add(receiver.url, ["shelf.*", "account.*"])
        for name in ["A", "B", "C"] { _ = try await reader.makeShelf(name) }
        try await receiver.wait(1)
        receiver.respond { _ in [.response()] }
        #expect(
            try await reader.execute(
                "mutation($id: String!) { deleteAccount(confirm: $id) { id } }", ["id": reader.id]
            )
            .errors.isEmpty)
        try await waitUntil("the deletion was sent") {
            receiver.types.last == "account.deleted"
        }
        #expect(receiver.messages.last?.data == ["userId": reader.id])
        try await waitUntil("the result is recorded") {
            try await world.deliveries(webhook).map(\.state) == [.delivered]
        }
        #expect(receiver.types.filter { $0 != "shelf.created" } == ["account.deleted"])
        try await world.remove(webhook)
    }

    @Test func withoutWebhooksChangesWriteNoPositions() async throws {
        let world = try await WebhookWorld.start()
        await world.stop()
        let reader = try await world.app.makeReader()
        let other = try await world.app.makeReader(.beta)
        let positions = "SELECT count(*) FROM webhook_positions"
        _ = try await reader.makeShelf("A")
        #expect(try await world.app.database.count(positions) == 0)
        try await world.add("https://hooks.example.com/")
        #expect(try await world.app.database.count(positions) == 0)
        _ = try await reader.makeShelf("B")
        let position = try await world.app.database.text("SELECT p FROM webhook_positions p")
        #expect(position.contains(reader.id.string ?? "-"))
        _ = try await reader.makeShelf("C")
        _ = try await other.makeShelf("A")
        #expect(
            try await world.app.database.text("SELECT p FROM webhook_positions p") == position)
    }

    @Test func largeTransactionsAreCollectedCompletely() async throws {
        let world = try await Self.world()
        let receiver = try WebhookReceiver()
        let reader = try await world.app.makeReader()
        let (webhook, _) = try await world.add(receiver.url, ["book.deleted"])
        try await reader.makeBooks(450)
        let user = reader.id.string ?? ""
        // Jobs lock the user before rows of books. Without the same order, there could be a deadlock.
        try await reader.executeSQL(
            "SELECT lock_user('\(user)'); DELETE FROM books WHERE user_id = '\(user)'")
        try await waitUntil("all are collected") {
            try await world.deliveries(webhook).count == 450
        }
        let seqs = try await world.app.database.text(
            """
            SELECT array_agg(d.change_seq ORDER BY d.number) = array_agg(c.seq ORDER BY c.seq)
            FROM webhook_deliveries d
            JOIN changes c ON c.user_id = d.user_id AND c.seq = d.change_seq
            WHERE d.user_id = '\(user)'
            """)
        #expect(seqs == "true")
        try await world.remove(webhook)
    }

    @Test func aTenantHasALimitedNumberOfWebhooks() async throws {
        let app = try await TestApp.start(catalog: [])
        let keys = app.keys
        try await app.database.withConnection { connection in
            func add(_ types: [String], _ tenant: String = "alpha") throws(AdministrationError) {
                _ = try WebhookRecord.add(
                    "https://hooks.example.com/", eventTypes: types, to: tenant, keys, connection)
            }
            #expect(throws: AdministrationError.self) { try add(["book.read"]) }
            #expect(throws: AdministrationError.self) { try add([]) }
            #expect(throws: AdministrationError.self) {
                try add(Array(repeating: "*", count: WebhookEventType.patternsMax + 1))
            }
            #expect(throws: AdministrationError.self) { try add(["*"], "nobody") }
            for _ in 0..<WebhookRecord.webhooksMax { try add(["*"]) }
            #expect(throws: AdministrationError.self) { try add(["*"]) }
            try add(["*"], "beta")
            // The webhooks of a tenant are removed with it.
            try TenantRecord.find("alpha", connection).remove(connection)
            #expect(try WebhookRecord.list(tenant: nil, connection).map(\.tenant) == ["beta"])
        }
    }
}
