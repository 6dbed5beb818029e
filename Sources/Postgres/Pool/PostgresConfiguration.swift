/// How to reach a database, and the limits of talking to it.
package struct PostgresConfiguration: Sendable {
    /// A libpq URL or keyword string.
    package var url: String
    /// Shown in pg_stat_activity, unless the URL says otherwise.
    package var applicationName = "bookplate"
    /// Connections of one pool, that is of one event loop.
    package var connectionCount = 4
    /// Segments that may be under way on one connection.
    package var segmentsInFlightMax = 16
    /// Segments of one pool that may wait for a connection; one more is refused.
    package var segmentsQueuedMax = 1024
    /// Statements kept prepared on one connection.
    package var preparedStatementsMax = 500
    /// How long a segment's caller waits, unless the segment says otherwise.
    package var segmentTimeout: Duration = .seconds(10)
    /// How long the server works on one statement before it gives up; zero is for ever.
    package var statementTimeout: Duration = .seconds(10)
    /// How long an open transaction may do nothing before the server ends it; zero is for ever.
    package var idleInTransactionTimeout: Duration = .seconds(10)
    /// How long one attempt to connect may take; at least two seconds, which is libpq's least.
    package var connectTimeout: Duration = .seconds(5)
    /// How the event loop learns that a connection can be read.
    package var readiness = ReadinessMethod.automatic
    /// Told what happens to the connections, on whatever thread it happens.
    package var onEvent: @Sendable (PostgresEvent) -> Void = { _ in }

    package init(url: String) {
        self.url = url
    }
}

/// How an event loop learns that libpq's descriptor can be read.
package enum ReadinessMethod: Sendable {
    /// `aio` where the kernel lets us, `thread` otherwise.
    case automatic
    /// The kernel tells an eventfd that the loop reads; no thread.
    case aio
    /// A thread waits, and tells the loop.
    case thread
}
