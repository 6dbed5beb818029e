import GraphQL
import Identity
import Postgres
import Requests

/// An event as it is sent to a receiver. It contains ids, but no other data of the user.
///
/// Spec: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md#payload-structure
package struct WebhookMessage: Sendable {
    /// The same for all attempts to deliver the event.
    let id: String
    /// A JSON object with `type`, `timestamp`, and `data`.
    let body: [UInt8]

    /// - Parameters:
    ///   - delivery: The ID of the delivery.
    ///   - at: The time of the event in microseconds since the Unix epoch.
    private init(delivery: UUID, type: String, at: Int64, data: [Value.Member]) {
        id = "msg_\(delivery)"
        var writer = ResponseWriter(capacity: 256)
        writer.write(
            .object([
                .init("type", .string(type)),
                .init("timestamp", .string(Instant(microseconds: at).text)),
                .init("data", .object(data)),
            ]))
        body = writer.bytes
    }

    init(_ delivery: DueDelivery) {
        var data: [Value.Member] = [.init("userId", .string(delivery.userID.description))]
        if let id = delivery.objectID {
            let name = delivery.changeSeq == nil ? "bookId" : "id"
            data.append(.init(name, .string(id.description)))
        }
        if let seq = delivery.changeSeq {
            let cursor = ChangeCursor(seq: seq, at: delivery.at)
            data.append(.init("cursor", .string(cursor.text)))
        }
        self.init(delivery: delivery.id, type: delivery.type, at: delivery.at, data: data)
    }

    /// Returns a message that an operator sends to try a webhook.
    package static func test(of webhook: UUID) -> WebhookMessage {
        WebhookMessage(
            delivery: .version7(), type: WebhookEventType.test, at: unixSecondsNow() * 1_000_000,
            data: [.init("webhookId", .string(webhook.description))])
    }
}

/// A delivery whose attempt is due: a row of `due_webhook_deliveries`.
struct DueDelivery: RowDecodable, Sendable {
    let userID: UUID
    let id: UUID
    let type: String
    /// The changed object, or the book of a cover; nil for events of the account.
    let objectID: UUID?
    /// The entry of the change log; nil for other events.
    let changeSeq: Int64?
    /// The time of the event in microseconds since the Unix epoch.
    let at: Int64

    init?(_ row: inout RowReader) {
        guard let userID = row.uuid(), let id = row.uuid(), let type = row.text() else {
            return nil
        }
        self.userID = userID
        self.id = id
        self.type = type
        objectID = row.uuid()
        changeSeq = row.int64()
        guard let at = row.timestamptz() else { return nil }
        self.at = at
    }
}
