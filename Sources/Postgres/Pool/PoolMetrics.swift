/// What a pool is doing, and what it has done since its start.
package struct PoolMetrics: Sendable, Equatable {
    package var readyConnectionCount = 0
    /// Segments sent and not yet answered.
    package var inFlightCount = 0
    /// Segments that wait for a connection.
    package var queuedCount = 0

    /// Segments sent, each a round trip.
    package var segmentCount = 0
    package var statementCount = 0
    /// Segments sent again.
    package var retryCount = 0
    /// Segments and transactions refused, for too many waited.
    package var refusedCount = 0
    package var lostConnectionCount = 0

    package init() {}
}
