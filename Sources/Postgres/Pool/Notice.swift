/// What listeners on a channel are told.
struct Notice: Hashable, Sendable {
    let channel: String
    let payload: String
}

/// What is told after the commits that had something to tell.
///
/// PostgreSQL lets only one transaction with a NOTIFY commit at a time, in the whole cluster, and holds the others back until its
/// commit is on the disk: sixteen writers managed 200 commits a second where they manage 2,000 without. So the writers
/// leave it to one small transaction, which waits for no disk and takes with it all that has gathered.
struct NoticeQueue {
    private var waiting: Set<Notice> = []
    private var isSending = false

    /// In one statement.
    private static let batchMax = 1000
    /// What comes later is of no use: who listens has asked the tables by then.
    private static let timeout = Duration.seconds(2)
    private static let send = Statement(
        """
        SELECT set_config('synchronous_commit', 'off', true), pg_notify(n.channel, n.payload) \
        FROM unnest($1::text[], $2::text[]) AS n (channel, payload)
        """)

    /// - Returns: whether somebody has to begin to send.
    mutating func add(_ notices: Set<Notice>) -> Bool {
        waiting.formUnion(notices)
        if isSending || waiting.isEmpty { return false }
        isSending = true
        return true
    }

    /// What is to be sent now; nil where there is nothing more, and the sender is done.
    mutating func next() -> Segment? {
        let batch = waiting.prefix(Self.batchMax)
        guard !batch.isEmpty else {
            isSending = false
            return nil
        }
        waiting.subtract(batch)
        var parameters = Parameters()
        parameters.append(texts: batch.map(\.channel))
        parameters.append(texts: batch.map(\.payload))
        var segment = Segment.one(Self.send, parameters)
        segment.timeout = Self.timeout
        return segment
    }
}
