import NIOCore

/// The limits on the size and the duration of a client's requests.
package struct HTTPLimits: Sendable {
    /// The maximum number of connections of all clients. Further connections get status 503, or wait while many do.
    package var connectionsMax = 20_000
    /// The maximum number of files that the routes of each event loop keep open, if there are enough descriptors (`DescriptorShares`).
    package var filesPerLoopMax = 0
    package var headerFieldsMax = 100
    /// The maximum size of a header's name and value, or of the request line.
    package var headerFieldBytesMax = 32 << 10
    /// The maximum size of a request's head.
    package var headerBytesMax = 64 << 10
    /// The time from a new connection to the head of its first request.
    package var firstHeadTimeout = TimeAmount.seconds(15)
    /// The time from a request's head to the end of its body.
    package var bodyTimeout = TimeAmount.seconds(30)
    /// The maximum number of bytes of large request bodies of one client that are held at a time. A client is an IPv4 address, or a
    /// 64-bit IPv6 network.
    package var bodyBytesPerAddressMax = 128 << 20
    /// The maximum number of bytes of large request bodies that the process holds at a time.
    package var bodyBytesOfProcessMax = 512 << 20
    /// The time from a response to the head of the next request. It includes the time in which the client reads the
    /// response.
    package var keepAliveTimeout = TimeAmount.seconds(75)
    /// The number of bytes of a response that a client must read in each `keepAliveTimeout`.
    package var bytesReadMin = 64 << 10
    /// The time to produce a response. After it, the request's task is cancelled.
    package var responseTimeout = TimeAmount.seconds(30)
    /// The time that a cancelled task has to end, and that a client has to read a final error after the output is
    /// closed.
    package var lingeringCloseTimeout = TimeAmount.seconds(2)
    /// The interval between checks of all deadlines. A timeout may be late by this much.
    package var sweepInterval = TimeAmount.milliseconds(500)
    /// The time from the opening of a WebSocket to its `connection_init`.
    package var initialisationTimeout = TimeAmount.seconds(10)
    /// The time without messages after which a WebSocket is pinged, and then the time to wait before it is closed.
    package var pingInterval = TimeAmount.seconds(25)
    /// The maximum number of operations that run on one WebSocket.
    package var operationsPerSocketMax = 100
    /// The maximum number of responses in several parts that are delivered on one WebSocket at a time.
    package var incrementalOperationsPerSocketMax = 8
    /// The interval between heartbeats on a stream without responses.
    package var heartbeatInterval = TimeAmount.seconds(10)
    /// The time that the client of a WebSocket or a stream may leave pending data unread.
    package var slowReaderTimeout = TimeAmount.seconds(20)
    /// The patience with slow readers while memory is short: while more than half of the memory for unread responses is
    /// used, a client must read `bytesReadMin` within this time multiplied by the unused share, or its connection is
    /// closed.
    package var shortMemoryPatience = TimeAmount.seconds(10)
    /// The time from a stop signal to the end of listening.
    package var stopDelay = Duration.zero
    /// The time that running requests have to finish after the end of listening.
    package var stopTimeout = TimeAmount.seconds(10)

    package init() {}
}
