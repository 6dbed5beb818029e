/// The address of a database, and the limits of using it.
package struct PostgresConfiguration: Sendable {
    /// A libpq URL or keyword string.
    package var url: String
    /// The name shown in `pg_stat_activity`, unless the URL sets one.
    package var applicationName = "bookplate"
    /// The number of connections of one pool, and therefore of one event loop.
    package var connectionCount = 4
    /// The maximum number of pipelines in flight on one connection.
    package var pipelinesInFlightMax = 16
    /// The maximum number of pipelines that wait for a connection of one pool; more are rejected.
    package var pipelinesQueuedMax = 1024
    /// The maximum number of reads, or of writes, of one owner that wait for a connection of one pool; more are rejected.
    package var pipelinesQueuedOfOwnerMax = 128
    /// The maximum number of statements kept prepared on one connection.
    package var preparedStatementsMax = 500
    /// The maximum time from `run` to the result, unless the pipeline has its own timeout.
    package var pipelineTimeout: Duration = .seconds(10)
    /// How long pipelines wait for a connection when all are lost. After this time they fail at once, with `.connectFailed`,
    /// until a connection is open. nil to wait until their timeout.
    package var outageGrace: Duration?
    /// The server's `statement_timeout`; zero disables it. It is shorter than `pipelineTimeout`, so that a pipeline that waits for a
    /// lock fails, with no effect, before its caller gives up without knowing the effect.
    package var statementTimeout: Duration = .seconds(9)
    /// The server's `idle_in_transaction_session_timeout`; zero disables it.
    package var idleInTransactionTimeout: Duration = .seconds(10)
    /// The time limit for connecting to each host; at least two seconds, libpq's minimum.
    package var connectTimeout: Duration = .seconds(3)
    /// The time after which a connection is lost if the server does not acknowledge data, or does not read it. A pool allows more
    /// time for large pipelines, see `Link.setPatient`.
    package var tcpUserTimeout: Duration = .seconds(3)
    /// The turns that pools take to send the writes of a user. Copies of a configuration share them.
    package var writeTurns = WriteTurns()
    /// A query that each new connection runs. If it returns a text, the connection is closed, and the text is the reason.
    package var refusal: String?
    /// How the event loop detects that a socket is readable.
    package var readiness = ReadinessMethod.automatic
    /// Called for each event of the connections, on the thread where it happens.
    package var onEvent: @Sendable (PostgresEvent) -> Void = { _ in }

    package init(url: String) {
        self.url = url
    }
}

/// How an event loop detects that one of libpq's sockets is readable.
package enum ReadinessMethod: Sendable {
    /// `aio` if the kernel allows it, otherwise `thread`.
    case automatic
    /// The kernel's asynchronous poll increments an eventfd that the loop reads; needs no thread.
    case aio
    /// A thread waits with epoll and notifies the loop.
    case thread
}
