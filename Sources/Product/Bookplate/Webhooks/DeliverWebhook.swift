import Identity
import JobQueue
import Logging
import Postgres

/// Sends the deliveries of a webhook that are due.
///
/// At most one job per webhook runs at a time, on all servers together, so a delivery is sent again only if a server stops
/// before it has recorded the result. The deliveries of one user are sent one after the other, and those of several users at the
/// same time. A job that has run for `turnMax` enqueues itself again and ends, so that jobs of other webhooks can run.
struct DeliverWebhook: JobHandler {
    struct Payload: Codable, Sendable {
        let webhookID: UUID
    }

    static let kind = "webhook.deliver"
    static let settings = JobSettings(concurrency: 32, attemptsMax: 5, timeout: .seconds(120))

    /// The maximum number of requests to one webhook at the same time.
    private static let concurrency = 4
    private static let turnMax = Duration.seconds(20)
    /// How often to look for due deliveries while requests are in progress.
    private static let lookInterval = Duration.seconds(1)

    let services: Services
    private let metrics: WebhookMetrics

    init(services: Services) {
        self.services = services
        metrics = WebhookMetrics(services.metrics)
    }

    private struct Attempt: Sendable {
        let delivery: DueDelivery
        let result: WebhookResult
    }

    func run(_ payload: Payload, in job: JobContext) async throws(JobError) {
        let end = ContinuousClock.now.advanced(by: Self.turnMax)
        let outcome: Result<Void, JobError> = await withTaskGroup(of: Attempt?.self) { group in
            do throws(JobError) {
                try await send(payload.webhookID, until: end, job, &group)
                return .success(())
            } catch {
                group.cancelAll()
                return .failure(error)
            }
        }
        try outcome.get()
        guard ContinuousClock.now >= end, !Task.isCancelled else { return }
        try await job.write {
            $0.enqueue(Self.self, payload, for: nil, key: payload.webhookID.description)
        }
    }

    /// Sends deliveries until none is due. After `end`, it only waits for those in progress.
    private func send(
        _ webhook: UUID, until end: ContinuousClock.Instant, _ job: JobContext,
        _ group: inout TaskGroup<Attempt?>
    ) async throws(JobError) {
        var users: Set<UUID> = []
        var isTimerRunning = false
        while true {
            if users.count < Self.concurrency, ContinuousClock.now < end, !Task.isCancelled {
                let (target, due) = try await read(webhook, excluding: users, job)
                for delivery in target == nil ? [] : due {
                    users.insert(delivery.userID)
                    group.addTask { [services] in
                        Attempt(
                            delivery: delivery,
                            result: await target?.send(delivery, from: webhook, services)
                                ?? WebhookResult(error: "cancelled", isCancelled: true))
                    }
                }
            }
            guard !users.isEmpty else { return group.cancelAll() }
            // A slow request does not delay deliveries that become due meanwhile.
            if users.count < Self.concurrency, !isTimerRunning {
                isTimerRunning = true
                group.addTask {
                    try? await Task.sleep(for: Self.lookInterval)
                    return nil
                }
            }
            guard let result = await group.next() else { return }
            guard let attempt = result else {
                isTimerRunning = false
                continue
            }
            users.remove(attempt.delivery.userID)
            try await settle(attempt, of: webhook, job)
        }
    }

    private func read(
        _ webhook: UUID, excluding users: Set<UUID>, _ job: JobContext
    ) async throws(JobError) -> (target: WebhookTarget?, due: [DueDelivery]) {
        let (results, keys) = try await job.read { pipeline in
            var parameters = Parameters.of(webhook)
            parameters.append(uuids: users)
            parameters.append(int32: Int32(Self.concurrency - users.count))
            return (
                pipeline.append(Self.target, .of(webhook)), pipeline.append(Self.due, parameters)
            )
        }
        return (results[keys.0].first, results[keys.1])
    }

    private func settle(
        _ attempt: Attempt, of webhook: UUID, _ job: JobContext
    ) async throws(JobError) {
        let result = attempt.result
        guard !result.isCancelled else { return }
        let outcomes = try await job.write { pipeline in
            var parameters = Parameters.of(webhook, attempt.delivery.userID, attempt.delivery.id)
            parameters.append(bool: result.isDelivered)
            parameters.append(int32: result.status.map { Int32(clamping: $0) })
            parameters.append(text: result.error)
            parameters.append(int64: result.retryAfter?.milliseconds)
            parameters.append(bool: result.isGone)
            return pipeline.append(Self.settle, parameters)
        }
        // nil if the webhook or the account was deleted in the meantime.
        guard let outcome = outcomes.first else { return }
        metrics.count(outcome)
        guard outcome == "dead" || outcome == "disabled" else { return }
        job.logger.warning(
            outcome == "dead"
                ? "an event could not be delivered to a webhook"
                : "a webhook was disabled, because its receiver has responded with status 410",
            metadata: [
                "webhook": "\(webhook)", "delivery": "\(attempt.delivery.id)",
                "error": "\(result.error ?? "")",
            ])
    }

    private static let target = TypedStatement<WebhookTarget>(
        "SELECT url, sealed_secret, sealed_previous_secret FROM usable_webhook($1)")

    private static let due = TypedStatement<DueDelivery>(
        """
        SELECT user_id, id, type, object_id, change_seq, event_at
        FROM due_webhook_deliveries($1, $2, $3)
        """)

    private static let settle = TypedStatement<String>(
        "SELECT settle_webhook_delivery($1, $2, $3, $4, $5, $6, $7, $8)")
}

/// The address of a webhook, and its encrypted secrets.
package struct WebhookTarget: Sendable {
    let url: String
    let sealedSecret: [UInt8]
    /// The secret before a rotation that has not ended.
    let sealedPreviousSecret: [UInt8]?

    /// Returns the secrets, the current one first; nil if it cannot be decrypted.
    ///
    /// A previous secret that cannot be decrypted is left out: after a loss of the key file, a new secret repairs the webhook.
    package func secrets(of webhook: UUID, _ keys: SessionKeys) -> [WebhookSecret]? {
        guard let current = WebhookSecret(sealed: sealedSecret, of: webhook, keys) else {
            return nil
        }
        let previous = sealedPreviousSecret.flatMap {
            WebhookSecret(sealed: $0, of: webhook, keys)
        }
        return [current] + (previous.map { [$0] } ?? [])
    }

    fileprivate func send(
        _ delivery: DueDelivery, from webhook: UUID, _ services: Services
    ) async -> WebhookResult {
        guard let secrets = secrets(of: webhook, services.accounts.sessionKeys) else {
            return WebhookResult(
                error:
                    "the secret was encrypted with a key that the session key file does not contain"
            )
        }
        return await services.webhooks.send(WebhookMessage(delivery), to: url, secrets: secrets)
    }
}

extension WebhookTarget: RowDecodable {
    package init?(_ row: inout RowReader) {
        guard let url = row.text(), let sealedSecret = row.bytes() else { return nil }
        self.init(url: url, sealedSecret: sealedSecret, sealedPreviousSecret: row.bytes())
    }
}
