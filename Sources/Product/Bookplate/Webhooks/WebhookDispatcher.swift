import JobQueue
import Logging
import Postgres
import Requests
import Telemetry

/// Turns changes and cover events into deliveries, and enqueues the jobs that send them. Several servers can do this at the same
/// time.
package final class WebhookDispatcher: Sendable {
    /// The time after which the tables are read even without a notification.
    private static let pollInterval = Duration.seconds(2)
    /// The delay after a notification, so that one read covers the notifications that follow it closely.
    private static let gatheringDelay = Duration.milliseconds(50)
    private static let retryInterval = Duration.seconds(1)
    /// The limits of one transaction. It is short, because the users' own requests wait for it.
    private static let usersMax: Int32 = 20
    private static let entriesMax: Int32 = 200

    private static let collect = TypedStatement<Int32>("SELECT collect_webhook_events($1, $2)")
    private static let enqueue = TypedStatement<Int64>("SELECT enqueue_webhooks($1, $2)")

    private let database: ConnectionPool
    private let hub: Hub
    private let logger: Logger

    package init(database: ConnectionPool, services: Services) {
        self.database = database
        hub = services.hub
        logger = services.logger
    }

    /// Dispatches events until the task is cancelled.
    package func run() async {
        let watch = hub.watchOutbox()
        var failure = RepeatedFailure()
        while !Task.isCancelled {
            do throws(PostgresError) {
                let users = try await dispatch()
                failure.end()
                if users == 0 { await watch.signal.wait(atMost: Self.pollInterval) }
                try? await Task.sleep(for: Self.gatheringDelay)
            } catch {
                if failure.isToBeLogged("\(error)") {
                    logger.warning(
                        "cannot collect the events of webhooks, trying again",
                        metadata: ["reason": "\(error)"])
                }
                try? await Task.sleep(for: Self.retryInterval)
            }
        }
    }

    /// Collects events of several users, and enqueues jobs.
    ///
    /// - Returns: The number of users. If it is not 0, there may be more.
    func dispatch() async throws(PostgresError) -> Int {
        var collection = Parameters()
        collection.append(int32: Self.usersMax)
        collection.append(int32: Self.entriesMax)
        let users = try await database.run(.one(Self.collect.statement, collection))[0]
            .decode(Int32.self)
        var job = Parameters()
        job.append(text: DeliverWebhook.kind)
        job.append(int32: Int32(DeliverWebhook.settings.attemptsMax))
        let jobs = try await database.run(.one(Self.enqueue.statement, job))[0].decode(Int64.self)
        if let count = jobs.first, count > 0 {
            await database.notify(JobWorker.channel, [DeliverWebhook.kind])
        }
        return Int(users.first ?? 0)
    }
}
