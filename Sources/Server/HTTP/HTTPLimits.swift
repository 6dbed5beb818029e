import NIOCore

/// What one client may take, and how long it may take over it.
package struct HTTPLimits: Sendable {
    /// Of all clients together; those above it get 503 at once.
    package var connectionsMax = 20_000
    package var headerFieldsMax = 100
    /// Of one header's name and value, or of the request's target.
    package var headerFieldBytesMax = 32 << 10
    /// Of all headers of a request.
    package var headerBytesMax = 64 << 10
    /// From a new connection to its first request's head.
    package var firstHeadTimeout = TimeAmount.seconds(15)
    /// From a request's head to the end of its body.
    package var bodyTimeout = TimeAmount.seconds(30)
    /// From an answer to the next request's head, the time in which the answer is read included.
    package var keepAliveTimeout = TimeAmount.seconds(75)
    /// What a client must read of an answer in each `keepAliveTimeout`.
    package var bytesReadMin = 64 << 10
    /// For making an answer; then its task is cancelled.
    package var answerTimeout = TimeAmount.seconds(30)
    /// For a cancelled task to end, and for a refused client to read why.
    package var lastWordTimeout = TimeAmount.seconds(2)
    /// How often connections are looked at: timeouts are late by up to this much.
    package var sweepInterval = TimeAmount.milliseconds(500)
    /// From a WebSocket's opening to its `connection_init`.
    package var initialisationTimeout = TimeAmount.seconds(10)
    /// How long a WebSocket may be silent before it is pinged, and then before it is given up.
    package var pingInterval = TimeAmount.seconds(25)
    /// Operations under way on one WebSocket.
    package var operationsPerSocketMax = 100
    /// How often a stream that has nothing to say shows that it is alive.
    package var heartbeatInterval = TimeAmount.seconds(10)
    /// How long the client of a WebSocket or a stream may leave unread what waits for it.
    package var slowReaderTimeout = TimeAmount.seconds(20)
    /// While more than half of the memory for unread responses is used: this, times the share that is free, is how long
    /// a client may take to read `bytesReadMin` before its connection is closed.
    package var shortMemoryPatience = TimeAmount.seconds(10)
    /// For the requests that run when the server is told to stop.
    package var stopTimeout = TimeAmount.seconds(10)

    package init() {}
}
