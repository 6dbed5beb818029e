/// The current load of a pool, and its counters since the start.
package struct PoolMetrics: Sendable, Equatable {
    package var readyConnectionCount = 0
    /// The number of pipelines sent and not yet finished.
    package var inFlightCount = 0
    /// The number of pipelines waiting for a connection with capacity.
    package var queuedCount = 0

    /// The number of pipelines sent; each is one round trip.
    package var pipelineCount = 0
    package var statementCount = 0
    /// The number of pipelines sent a second time.
    package var retryCount = 0
    /// The number of pipelines that were not sent because the queue was full, or all connections were busy until their deadline.
    package var refusedCount = 0
    /// The number of pipelines that were not sent because their owner had too many, or one that took too long.
    package var refusedOfOwnerCount = 0
    package var lostConnectionCount = 0

    package init() {}
}
