import Postgres
import Telemetry

extension Metrics {
    /// Reports the sums of the metrics of all connection pools, read at each scrape.
    func report(_ pools: [ConnectionPool]) {
        let connections = gauge(
            "bookplate_database_connections", "Open connections to the database.")
        let inFlight = gauge(
            "bookplate_database_pipelines_in_flight", "Round trips to the database in progress.")
        let waiting = gauge(
            "bookplate_database_pipelines_waiting", "Round trips that wait for a connection.")
        let roundTrips = counter(
            "bookplate_database_round_trips_total", "Round trips to the database.")
        let statements = counter(
            "bookplate_database_statements_total", "Statements sent to the database.")
        let retries = counter(
            "bookplate_database_retries_total", "Round trips sent again after a lost connection.")
        let refused = counter(
            "bookplate_database_refused_total", "Round trips refused because too many were waiting."
        )
        let refusedOfOwner = counter(
            "bookplate_database_refused_of_owner_total",
            "Round trips refused because too many of the same reader, address, or job were waiting."
        )
        let lost = counter(
            "bookplate_database_connections_lost_total", "Connections that were lost.")
        beforeReading {
            var sum = PoolMetrics()
            for pool in pools {
                let metrics = await pool.metrics()
                sum.readyConnectionCount += metrics.readyConnectionCount
                sum.inFlightCount += metrics.inFlightCount
                sum.queuedCount += metrics.queuedCount
                sum.pipelineCount += metrics.pipelineCount
                sum.statementCount += metrics.statementCount
                sum.retryCount += metrics.retryCount
                sum.refusedCount += metrics.refusedCount
                sum.refusedOfOwnerCount += metrics.refusedOfOwnerCount
                sum.lostConnectionCount += metrics.lostConnectionCount
            }
            connections.set(sum.readyConnectionCount)
            inFlight.set(sum.inFlightCount)
            waiting.set(sum.queuedCount)
            roundTrips.set(sum.pipelineCount)
            statements.set(sum.statementCount)
            retries.set(sum.retryCount)
            refused.set(sum.refusedCount)
            refusedOfOwner.set(sum.refusedOfOwnerCount)
            lost.set(sum.lostConnectionCount)
        }
    }
}
