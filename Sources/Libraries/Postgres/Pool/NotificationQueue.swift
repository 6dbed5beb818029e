/// A notification to send: the arguments of `pg_notify`.
struct Notification: Hashable, Sendable {
    let channel: String
    let payload: String
}

/// Collects the notifications of committed pipelines and sends them in batches.
///
/// PostgreSQL takes a cluster-wide lock when a transaction with a NOTIFY commits, and holds it until
/// the commit record has been flushed to disk. NOTIFY inside the writing transactions would therefore
/// serialize all commits: 16 writers reached 200 commits per second with it and 2,000 without.
///
/// Instead, a pipeline's notifications are added here after its commit. At most one sender runs at a
/// time: `add` returns true when the caller must start it, and the sender calls `next` until it returns
/// nil. Each batch is one transaction with `synchronous_commit` off, which does not wait for the disk.
/// Notifications that arrive while a batch is being sent are merged into the next one, and equal
/// notifications are sent once.
///
/// The first batch is sent at once. The sender then waits for `interval` after each batch, so that a busy
/// server does not pay for a transaction and a wake-up of every listener per commit.
///
/// Example: A commits and starts the sender. B and C commit within `interval` after A's batch. The sender
/// then sends B and C together, finds nothing more after another `interval`, and ends.
struct NotificationQueue {
    private var waiting: Set<Notification> = []
    private var isSending = false

    /// The maximum number of notifications in one statement.
    private static let batchMax = 1000
    /// The time between two batches.
    static let interval = Duration.milliseconds(10)
    /// Notifications that are not sent within this time are dropped: by then receivers have polled.
    private static let timeout = Duration.seconds(2)
    private static let send = Statement(
        """
        SELECT set_config('synchronous_commit', 'off', true), pg_notify(n.channel, n.payload) \
        FROM unnest($1::text[], $2::text[]) AS n (channel, payload)
        """)

    /// Adds notifications to send.
    ///
    /// - Returns: Whether the caller must start a sender, which calls `next` until it returns nil.
    mutating func add(_ notifications: Set<Notification>) -> Bool {
        waiting.formUnion(notifications)
        if isSending || waiting.isEmpty { return false }
        isSending = true
        return true
    }

    /// Removes the next batch and returns the pipeline that sends it; nil ends the sender.
    mutating func next() -> Pipeline? {
        let batch = waiting.prefix(Self.batchMax)
        guard !batch.isEmpty else {
            isSending = false
            return nil
        }
        waiting.subtract(batch)
        var parameters = Parameters()
        parameters.append(texts: batch.map(\.channel))
        parameters.append(texts: batch.map(\.payload))
        var pipeline = Pipeline.one(Self.send, parameters)
        pipeline.timeout = Self.timeout
        pipeline.isDurable = false
        return pipeline
    }
}
