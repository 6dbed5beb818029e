import Postgres
import Telemetry

extension Metrics {
    /// What the connection pools of all event loops do together, asked of them at each reading.
    func tell(of pools: [ConnectionPool]) {
        let connections = gauge(
            "bookplate_database_connections", "Connections to the database that are open.")
        let inFlight = gauge(
            "bookplate_database_segments_in_flight", "Round trips under way to the database.")
        let waiting = gauge(
            "bookplate_database_segments_waiting", "Round trips that wait for a connection.")
        let segments = counter(
            "bookplate_database_round_trips_total", "Round trips to the database.")
        let statements = counter(
            "bookplate_database_statements_total", "Statements sent to the database.")
        let retries = counter(
            "bookplate_database_retries_total", "Round trips sent again after a lost connection.")
        let refused = counter(
            "bookplate_database_refused_total", "Round trips refused, for too many waited.")
        let lost = counter(
            "bookplate_database_connections_lost_total", "Connections that were lost.")
        beforeReading {
            var sum = PoolMetrics()
            for pool in pools {
                let one = await pool.metrics()
                sum.readyConnectionCount += one.readyConnectionCount
                sum.inFlightCount += one.inFlightCount
                sum.queuedCount += one.queuedCount
                sum.pipelineCount += one.pipelineCount
                sum.statementCount += one.statementCount
                sum.retryCount += one.retryCount
                sum.refusedCount += one.refusedCount
                sum.lostConnectionCount += one.lostConnectionCount
            }
            connections.set(sum.readyConnectionCount)
            inFlight.set(sum.inFlightCount)
            waiting.set(sum.queuedCount)
            segments.set(sum.pipelineCount)
            statements.set(sum.statementCount)
            retries.set(sum.retryCount)
            refused.set(sum.refusedCount)
            lost.set(sum.lostConnectionCount)
        }
    }
}
