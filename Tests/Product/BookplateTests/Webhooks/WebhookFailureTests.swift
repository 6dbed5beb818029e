import Glibc
import GraphQL
import LoopbackHTTP
import Postgres
import Synchronization
import TestBasics
import TestSupport
import Testing

@testable import Bookplate
@testable import Operations

/// Receivers that fail, and servers that stop.
@Suite struct WebhookFailureTests {
    private final class Flag: Sendable {
        private let value = Mutex(false)

        var isSet: Bool {
            get { value.withLock { $0 } }
            set { value.withLock { $0 = newValue } }
        }
    }

    @Test func aFailingUserDelaysOnlyItself() async throws {
        let world = try await WebhookWorld.start()
        let receiver = try WebhookReceiver()
        let (webhook, _) = try await world.add(receiver.url, ["shelf.*"])
        let (failing, other) = (try await world.app.makeReader(), try await world.app.makeReader())
        let user = failing.id
        receiver.respond { $0.user == user ? [.response(500)] : [.response()] }
        for name in ["A", "B", "C"] { _ = try await failing.makeShelf(name) }
        try await receiver.wait(1)
        for name in ["A", "B", "C"] { _ = try await other.makeShelf(name) }
        try await waitUntil("the other user's events have arrived") {
            receiver.messages.filter { $0.user == other.id }.count == 3
        }
        let first = try #require(receiver.messages.first { $0.user == user })
        // Only the first event of the failing user was tried.
        #expect(Set(receiver.messages.filter { $0.user == user }.map(\.id)) == [first.id])
        let waiting = try await world.deliveries(webhook, .waiting)
        #expect(waiting.map { $0.dueAt != nil } == [false, false, true])
        #expect(waiting.last?.lastStatus == 500 && waiting.last?.lastError == "status 500")
        #expect(try await world.record(webhook).state == .enabled)

        receiver.respond { _ in [.response()] }
        try await world.passPauses()
        try await waitUntil("all are delivered") { try await world.record(webhook).waiting == 0 }
        let own = receiver.messages.filter { $0.user == user }
        let last = own.suffix(3)
        #expect(last.first?.id == first.id && last.first?.text == first.text)
        let cursors = try last.map {
            try ChangeCursor($0.data["cursor"]?.string ?? "").seq
        }
        #expect(cursors == cursors.sorted() && Set(cursors).count == 3)
        await world.stop()
    }

    @Test func aReceiverThatIsDownPausesAsAWhole() async throws {
        let world = try await WebhookWorld.start()
        let receiver = try WebhookReceiver { _ in [.response(502)] }
        let (webhook, _) = try await world.add(receiver.url, ["shelf.*"])
        var readers: [TestReader] = []
        for _ in 0..<8 { readers.append(try await world.app.makeReader()) }
        for reader in readers { _ = try await reader.makeShelf("A") }
        try await waitUntil("the webhook is paused") {
            try await world.record(webhook).state == .paused
        }
        try await waitUntil("no request is running") {
            try await world.app.database.count(
                "SELECT count(*) FROM jobs WHERE kind = '\(DeliverWebhook.kind)'") == 0
        }
        // After the pause, a single delivery is tried.
        let count = receiver.messages.count
        try await world.passPauses()
        try await receiver.wait(count + 1)
        try await waitUntil("the pause continues") {
            try await world.app.database.count(
                "SELECT count(*) FROM webhooks WHERE paused_until > now()") == 1
        }
        #expect(receiver.messages.count == count + 1)
        receiver.respond { _ in [.response()] }
        try await world.app.database.execute("UPDATE webhooks SET paused_until = now()")
        try await world.app.database.execute(
            "UPDATE webhook_deliveries SET due_at = now() WHERE user_id = '\(readers[0].id.string ?? "")'"
        )
        try await waitUntil("all are delivered") { try await world.record(webhook).waiting == 0 }
        #expect(try await world.record(webhook).state == .enabled)
        await world.stop()
    }

    @Test func status410DisablesUntilAnOperatorEnables() async throws {
        let world = try await WebhookWorld.start()
        let receiver = try WebhookReceiver { _ in [.response(410)] }
        let (webhook, _) = try await world.add(receiver.url, ["shelf.*"])
        let reader = try await world.app.makeReader()
        _ = try await reader.makeShelf("A")
        try await waitUntil("the webhook is disabled") {
            try await world.record(webhook).state == .disabled
        }
        receiver.respond { _ in [.response()] }
        _ = try await reader.makeShelf("B")
        try await world.passPauses()
        try await waitUntil("the event is collected") {
            try await world.record(webhook).waiting == 2
        }
        #expect(receiver.messages.count == 1)
        try await world.app.database.withConnection {
            try WebhookRecord.find(webhook, $0).enable($0)
        }
        try await receiver.wait(3)
        #expect(receiver.messages[0].id == receiver.messages[1].id)
        await world.stop()
    }

    @Test(
        arguments: [
            (503, "Retry-After: 3600", 3500...3600), (429, "Retry-After: 1", 0...1),
            (429, "Retry-After: 999999", 7100...7200),
        ] as [(Int, String, ClosedRange<Int>)])
    func retryAfterIsRespectedUpToTwoHours(status: Int, header: String, seconds: ClosedRange<Int>)
        async throws
    {
        let world = try await WebhookWorld.start()
        let receiver = try WebhookReceiver { _ in [.response(status, headers: [header])] }
        let (webhook, _) = try await world.add(receiver.url, ["shelf.*"])
        _ = try await world.app.makeReader().makeShelf("A")
        try await waitUntil("the webhook is paused") {
            try await world.record(webhook).state == .paused
        }
        let pause = try await world.app.database.count(
            "SELECT greatest(0, extract(epoch FROM paused_until - clock_timestamp()))::bigint FROM webhooks"
        )
        #expect(seconds.contains(pause))
        await world.stop()
    }

    @Test(
        arguments: [
            ([.response(302, headers: ["Location: /elsewhere"])], "redirects are not followed"),
            ([.send("not HTTP\r\n\r\n")], "not HTTP"), ([.response(404)], "status 404"),
            ([], "connection ended"),
            ([.pause(milliseconds: 3000), .response()], "no response in time"),
        ] as [([Step], String)])
    func otherResponsesAreFailures(steps: [Step], message: String) async throws {
        let world = try await WebhookWorld.start(timeout: .milliseconds(500))
        let receiver = try WebhookReceiver { _ in steps }
        let (webhook, _) = try await world.add(receiver.url, ["shelf.*"])
        _ = try await world.app.makeReader().makeShelf("A")
        try await waitUntil("the attempt is recorded") {
            try await world.deliveries(webhook).first?.attempts ?? 0 > 0
        }
        let delivery = try #require(try await world.deliveries(webhook).first)
        #expect(delivery.state == .waiting)
        #expect(delivery.lastError?.contains(message) == true, "\(delivery.lastError ?? "")")
        await world.stop()
    }

    @Test func aLongResponseIsDelivered() async throws {
        let world = try await WebhookWorld.start()
        let receiver = try WebhookReceiver { _ in
            [
                .send("HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n"),
                .flood(String(repeating: "x", count: 4096), bytes: 1 << 30),
            ]
        }
        let (webhook, _) = try await world.add(receiver.url, ["shelf.*"])
        _ = try await world.app.makeReader().makeShelf("A")
        try await waitUntil("the event is delivered") {
            try await world.deliveries(webhook).map(\.state) == [.delivered]
        }
        await world.stop()
    }

    @Test func privateAddressesAreRefused() async throws {
        let world = try await WebhookWorld.start()
        let receiver = try WebhookReceiver()
        // Only 127.0.0.1 is in the list of allowed addresses.
        let (webhook, _) = try await world.add("http://127.0.0.2:\(receiver.port)/", ["shelf.*"])
        _ = try await world.app.makeReader().makeShelf("A")
        try await waitUntil("the attempt is recorded") {
            try await world.deliveries(webhook).first?.attempts ?? 0 > 0
        }
        #expect(
            try await world.deliveries(webhook).first?.lastError
                == "the address is private and not in BOOKPLATE_FETCH_ALLOW")
        #expect(receiver.messages.isEmpty)
        await world.stop()
    }

    @Test func afterThreeDaysAnEventIsADeadLetterThatCanBeRetried() async throws {
        let world = try await WebhookWorld.start()
        let receiver = try WebhookReceiver()
        let (webhook, _) = try await world.add(receiver.url, ["shelf.*"])
        let reader = try await world.app.makeReader()
        let bad = try await reader.makeShelf("Refused")
        receiver.respond { $0.data["id"] == bad ? [.response(422)] : [.response()] }
        try await receiver.wait(1)
        try await world.app.database.execute("DELETE FROM webhook_deliveries")
        try await reader.executeSQL(
            "UPDATE shelves SET name = 'Still refused' WHERE name = 'Refused'")
        _ = try await reader.makeShelf("Good")
        try await waitUntil("the attempt is recorded") {
            try await world.deliveries(webhook).last?.attempts == 1
        }
        #expect(
            try await world.app.database.text(
                "SELECT bool_and(expires_at = event_at + interval '3 days') FROM webhook_deliveries"
            )
                == "true")
        try await world.app.database.execute(
            "UPDATE webhook_deliveries SET expires_at = now() WHERE due_at IS NOT NULL")
        try await world.passPauses()
        try await waitUntil("the next event is delivered") {
            try await world.deliveries(webhook).map(\.state) == [.delivered, .dead]
        }
        let dead = try await world.deliveries(webhook, .dead)
        #expect(dead.map(\.type) == ["shelf.updated"] && dead.first?.lastStatus == 422)
        #expect(try await world.record(webhook).dead == 1)

        receiver.respond { _ in [.response()] }
        let id = try #require(dead.first?.id)
        let retried = try await world.app.database.withConnection {
            try WebhookDeliveryRecord.retry([id], of: webhook, $0)
        }
        #expect(retried == 1)
        try await waitUntil("the dead letter is delivered") {
            try await world.deliveries(webhook).map(\.state) == [.delivered, .delivered]
        }
        #expect(receiver.messages.last?.id == "msg_\(id)")
        await world.stop()
    }

    @Test func pruningEndsWaitingAndDeletesOldDeliveries() async throws {
        let world = try await WebhookWorld.start()
        let receiver = try WebhookReceiver { _ in [.response(500)] }
        let (webhook, _) = try await world.add(receiver.url, ["shelf.*"])
        let reader = try await world.app.makeReader()
        for name in ["A", "B", "C"] { _ = try await reader.makeShelf(name) }
        try await waitUntil("the first attempt is recorded") {
            try await world.deliveries(webhook).last?.attempts == 1
        }
        await world.stop()
        func prune() async throws -> Int {
            try await world.app.database.count("SELECT prune_webhook_deliveries(100)")
        }
        #expect(try await prune() == 0)
        try await world.app.database.execute(
            """
            UPDATE webhook_deliveries SET expires_at = now()
            WHERE number = (SELECT min(number) FROM webhook_deliveries)
            """)
        #expect(try await prune() == 1)
        let states = try await world.deliveries(webhook)
        #expect(states.map(\.state) == [.waiting, .waiting, .dead])
        // The next event of the user is due.
        #expect(states.map { $0.dueAt != nil } == [false, true, false])
        try await world.app.database.execute(
            "UPDATE webhook_deliveries SET expires_at = now() WHERE state = 'DEAD'")
        #expect(try await prune() == 1)
        #expect(try await world.deliveries(webhook).count == 2)
    }

    /// Otherwise, a user could fill the disk while a receiver is down.
    @Test(arguments: ["WAITING", "DEAD"])
    func fullQueueOfAUserDropsFurtherEvents(state: String) async throws {
        let world = try await WebhookWorld.start()
        let receiver = try WebhookReceiver { _ in [.response(500)] }
        let (webhook, _) = try await world.add(receiver.url, ["shelf.*"])
        let (reader, other) = (try await world.app.makeReader(), try await world.app.makeReader())
        let database = world.app.database
        try await database.execute(
            """
            INSERT INTO webhook_deliveries (user_id, webhook_id, type, event_at, expires_at, state)
            SELECT '\(reader.id.string ?? "")', '\(webhook)', 'shelf.created', now(), now() + interval '1 day', '\(state)'
            FROM generate_series(1, 50000)
            """)
        _ = try await reader.makeShelf("A")
        _ = try await other.makeShelf("B")
        try await waitUntil("all changes are collected") {
            try await database.count("SELECT count(*) FROM webhook_positions") == 0
        }
        func count(_ reader: TestReader) async throws -> Int {
            let user = reader.id.string ?? ""
            return try await database.count(
                "SELECT count(*) FROM webhook_deliveries WHERE user_id = '\(user)'")
        }
        #expect(try await count(reader) == 50_000)
        #expect(try await count(other) == 1)
        await world.stop()
    }

    /// The pause doubles with each failure, with 25% jitter in both directions.
    @Test(arguments: [(1, 5.0), (2, 10), (3, 20), (10, 2560), (12, 7200), (40, 7200)])
    func pausesGrowExponentially(failures: Int, seconds: Double) async throws {
        let app = try await Self.app()
        let range = try await app.database.text(
            """
            SELECT min(s) || ' ' || max(s)
            FROM (
                SELECT extract(epoch FROM webhook_pause(\(failures), interval '2 hours')) AS s
                FROM generate_series(1, 200)
            ) p
            """
        ).split(separator: " ").compactMap { Double($0) }
        #expect(range[0] >= seconds * 0.749 && range[1] <= seconds * 1.251)
        #expect(range[1] - range[0] > seconds * 0.3)
    }

    private static let app = Shared { try await TestApp.start(catalog: []) }

    @Test func aRotatedSecretOverlapsWithThePreviousOne() async throws {
        let world = try await WebhookWorld.start()
        let receiver = try WebhookReceiver()
        let (webhook, old) = try await world.add(receiver.url, ["shelf.*"])
        let new = try await world.app.database.withConnection { [keys = world.app.keys] in
            try WebhookRecord.find(webhook, $0).rotateSecret(keys, $0)
        }
        let reader = try await world.app.makeReader()
        _ = try await reader.makeShelf("A")
        try await receiver.wait(1)
        #expect(receiver.messages[0].isSigned(with: new))
        #expect(receiver.messages[0].isSigned(with: old))
        try await world.app.database.execute("UPDATE webhooks SET previous_secret_until = now()")
        _ = try await reader.makeShelf("B")
        try await receiver.wait(2)
        #expect(receiver.messages[1].signatures.count == 1)
        #expect(receiver.messages[1].isSigned(with: new))
        #expect(try await world.app.database.count("SELECT prune_webhook_deliveries(1)") == 0)
        #expect(
            try await world.app.database.count(
                "SELECT count(*) FROM webhooks WHERE sealed_previous_secret IS NOT NULL") == 0)
        await world.stop()
    }

    /// The slow receiver responds only after the other one has received its event.
    @Test func aSlowReceiverDoesNotDelayOthers() async throws {
        let world = try await WebhookWorld.start()
        let fast = try WebhookReceiver()
        let slow = try WebhookReceiver { _ in
            for _ in 0..<2000 {
                if !fast.messages.isEmpty { return [.response()] }
                usleep(5000)
            }
            return [.response(500)]
        }
        let (slowID, _) = try await world.add(slow.url, ["shelf.*"], to: .alpha)
        try await world.add(fast.url, ["shelf.*"], to: .beta)
        for _ in 0..<6 { _ = try await world.app.makeReader(.alpha).makeShelf("A") }
        try await slow.wait(1)
        _ = try await world.app.makeReader(.beta).makeShelf("A")
        try await fast.wait(1)
        try await waitUntil("the slow receiver has all") {
            try await world.record(slowID).waiting == 0
        }
        #expect(Set(slow.messages.map(\.id)).count == slow.messages.count)
        await world.stop()
    }

    /// The worker stops after the receiver has got an event and before the result is recorded.
    @Test func eventsOfAKilledWorkerAreSentAgainInOrder() async throws {
        let world = try await WebhookWorld.start()
        let isKilled = Flag()
        let receiver = try WebhookReceiver()
        let (webhook, _) = try await world.add(receiver.url, ["shelf.*"])
        receiver.respond { _ in
            for _ in 0..<2000 where !isKilled.isSet { usleep(5000) }
            return [.response()]
        }
        let reader = try await world.app.makeReader()
        for name in ["A", "B", "C"] { _ = try await reader.makeShelf(name) }
        try await receiver.wait(1)
        await world.worker.kill()
        isKilled.isSet = true
        let worker = try await WebhookWorld.startWorker(world.app)
        try await waitUntil("all are delivered") { try await world.record(webhook).waiting == 0 }
        let ids = receiver.messages.map(\.id)
        #expect(ids.count == 4 && ids[0] == ids[1] && Set(ids).count == 3)
        let cursors = try receiver.messages.dropFirst().map {
            try ChangeCursor($0.data["cursor"]?.string ?? "").seq
        }
        #expect(cursors == cursors.sorted())
        await worker.stop()
        await world.stopDispatching()
    }

    @Test func metricsCountAttemptsAndDeadLetters() async throws {
        let world = try await WebhookWorld.start()
        let receiver = try WebhookReceiver()
        let (webhook, _) = try await world.add(receiver.url, ["shelf.*"])
        _ = try await world.app.makeReader().makeShelf("A")
        try await waitUntil("the event is delivered") {
            try await world.deliveries(webhook).map(\.state) == [.delivered]
        }
        let text = await world.app.services.metrics.text()
        #expect(text.contains(#"bookplate_webhook_attempts_total{outcome="delivered"} 1"#))
        #expect(text.contains(#"bookplate_webhook_attempts_total{outcome="dead"} 0"#))
        await world.stop()
    }
}
