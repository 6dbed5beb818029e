import Basics
import GraphQL
import LoopbackHTTP
import Postgres
import Synchronization
import TestBasics
import TestSupport

@testable import Bookplate
@testable import Operations

/// A receiver of webhooks, which verifies the signature of each message.
final class WebhookReceiver: Sendable {
    struct Message: Sendable {
        let id: String
        let type: String
        /// The members of `data`.
        let data: Value
        let body: Value
        /// The headers, in lower case.
        let headers: [String: String]
        /// The text that was sent.
        let text: String

        var user: Value { data["userId"] ?? .null }
        var signatures: [String] {
            headers["webhook-signature"]?.split(separator: " ").map { String($0) } ?? []
        }

        /// Whether one of the signatures was made with this secret.
        func isSigned(with secret: WebhookSecret) -> Bool {
            guard let timestamp = headers["webhook-timestamp"].flatMap(Int64.init) else {
                return false
            }
            return signatures.contains(
                secret.signature(id: id, timestamp: timestamp, body: Array(text.utf8)))
        }
    }

    typealias Responder = @Sendable (Message) -> [Step]

    private final class State: Sendable {
        let messages = Mutex<[Message]>([])
        let responder: Mutex<Responder>

        init(_ responder: @escaping Responder) { self.responder = Mutex(responder) }

        func receive(_ request: ReceivedRequest) -> [Step] {
            guard let body = try? parseJSON(Array(request.body.utf8)),
                let id = request.headers["webhook-id"]
            else { return [.response(400)] }
            let message = Message(
                id: id, type: body["type"]?.string ?? "", data: body["data"] ?? .null, body: body,
                headers: request.headers, text: request.body)
            messages.withLock { $0.append(message) }
            return responder.withLock { $0 }(message)
        }
    }

    private let state: State
    private let server: LoopbackServer

    init(_ responder: @escaping Responder = { _ in [.response(204)] }) throws {
        let state = State(responder)
        self.state = state
        server = try LoopbackServer { state.receive($0) }
    }

    var url: String { server.url("/hook") }
    var port: UInt16 { server.port }
    /// All messages, in the order of their arrival.
    var messages: [Message] { state.messages.withLock { $0 } }
    var types: [String] { messages.map(\.type) }

    func respond(_ responder: @escaping Responder) {
        state.responder.withLock { $0 = responder }
    }

    /// Waits until this number of messages has arrived.
    func wait(_ count: Int) async throws {
        try await waitUntil("\(count) messages have arrived") { messages.count >= count }
    }
}

/// An app with a worker and a dispatcher, as in a server.
struct WebhookWorld: Sendable {
    let app: TestApp
    let worker: TestWorker
    private let dispatcher: Task<Void, Never>

    static func start(timeout: Duration = .seconds(15)) async throws -> WebhookWorld {
        let app = try await TestApp.start(catalog: [], webhookTimeout: timeout)
        return WebhookWorld(app: app, worker: try await startWorker(app), dispatcher: dispatch(app))
    }

    static func startWorker(_ app: TestApp) async throws -> TestWorker {
        try await TestWorker.start(app.database, [DeliverWebhook(services: app.services)])
    }

    private static func dispatch(_ app: TestApp) -> Task<Void, Never> {
        let dispatcher = WebhookDispatcher(database: app.pool, services: app.services)
        return Task(executorPreference: app.pool.executor) { await dispatcher.run() }
    }

    func stopDispatching() async {
        dispatcher.cancel()
        await dispatcher.value
    }

    func stop() async {
        await stopDispatching()
        await worker.stop()
    }

    func remove(_ webhook: UUID) async throws {
        try await app.database.withConnection {
            try WebhookRecord.find(webhook, $0).remove($0)
        }
    }

    /// Adds a webhook, and returns it with its secret.
    @discardableResult
    func add(
        _ url: String, _ eventTypes: [String] = ["*"], to tenant: TestApp.Tenant = .alpha
    ) async throws -> (id: UUID, secret: WebhookSecret) {
        try await app.database.withConnection { [keys = app.keys] in
            let added = try WebhookRecord.add(
                url, eventTypes: eventTypes, to: tenant.rawValue, keys, $0)
            return (added.webhook.id, added.secret)
        }
    }

    /// The state of a webhook.
    func record(_ id: UUID) async throws -> WebhookRecord {
        try await app.database.withConnection { try WebhookRecord.find(id, $0) }
    }

    func deliveries(
        _ id: UUID, _ state: WebhookDeliveryRecord.State? = nil
    ) async throws -> [WebhookDeliveryRecord] {
        try await app.database.withConnection {
            try WebhookDeliveryRecord.list(of: id, state: state, limit: 1000, $0)
        }
    }

    /// Ends the pauses after failed attempts, as if the time had passed.
    func passPauses() async throws {
        try await app.database.execute(
            """
            UPDATE webhooks SET paused_until = now() WHERE paused_until IS NOT NULL;
            UPDATE webhook_deliveries SET due_at = now() WHERE due_at IS NOT NULL;
            NOTIFY changes, '00000000-0000-0000-0000-000000000000'
            """)
    }
}
