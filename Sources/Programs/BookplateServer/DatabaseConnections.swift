import Config
import EventLoops
import Logging
import NIOCore
import NIOPosix
import Postgres
import Requests
import Telemetry

/// The connections to the database: a pool per event loop, the replica, and the hub that receives notifications.
struct DatabaseConnections {
    let url: String
    /// The address for LISTEN.
    let directURL: String
    let group: any EventLoopGroup
    /// The pools by the identity of their event loop.
    let pools: [ObjectIdentifier: ConnectionPool]
    /// A pool for work that does not belong to an event loop.
    let firstPool: ConnectionPool
    /// nil if all data is read from the primary.
    let replica: Replica?
    let hub: Hub
    /// Shared with the connections of jobs.
    let writeTurns: WriteTurns

    /// Checks the database role and opens the connections.
    ///
    /// - Throws: `StartError` if the database must not or cannot be used.
    static func open(
        _ configuration: Configuration, _ metrics: Metrics, _ meter: LoopMeter, _ logger: Logger
    ) async throws -> DatabaseConnections {
        let url = try configuration.database.required()
        let directURL = configuration.database.directURL ?? url
        try checkDatabase(url, logger)
        let group = MultiThreadedEventLoopGroup(
            numberOfThreads: configuration.database.loopCount)
        let writeTurns = WriteTurns()
        let pools = try await openPools(
            url, "primary", on: group, configuration, writeTurns, meter, logger)
        guard let firstPool = pools.values.first else {
            throw StartError(message: "there is no event loop", code: 1)
        }
        var replica: Replica?
        if let readURL = configuration.database.readURL {
            replica = Replica(
                Array(
                    try await openPools(
                        readURL, "replica", on: group, configuration, writeTurns, meter, logger
                    ).values
                ),
                metrics)
        }
        let hub = try await Hub.start(
            PostgresConfiguration(url: directURL), database: firstPool, replica: replica,
            logger: logger)
        return DatabaseConnections(
            url: url, directURL: directURL, group: group, pools: pools, firstPool: firstPool,
            replica: replica, hub: hub, writeTurns: writeTurns)
    }

    /// Opens a pool for each event loop. Together the pools have the connections that are not for jobs.
    ///
    /// - Parameter name: The name of the database in the log.
    private static func openPools(
        _ url: String, _ name: String, on group: any EventLoopGroup,
        _ configuration: Configuration, _ writeTurns: WriteTurns, _ meter: LoopMeter,
        _ logger: Logger
    ) async throws -> [ObjectIdentifier: ConnectionPool] {
        let loops = Array(group.makeIterator())
        var settings = PostgresConfiguration(url: url)
        // The check at the start is skipped if the database cannot be reached.
        settings.refusal = DatabaseCheck.roleRefusal
        settings.outageGrace = .seconds(1)
        let failures = FailureLog(logger, message: "the database is unavailable")
        settings.onEvent = { event in
            // Each reason, because the database may refuse the role after an outage.
            if let failure = event.failure {
                failures.failed(name, failure, countedAs: "\(name): \(failure)")
            }
        }
        settings.connectionCount = configuration.database.loopConnectionCount
        settings.writeTurns = writeTurns
        var pools: [ObjectIdentifier: ConnectionPool] = [:]
        for loop in loops {
            pools[ObjectIdentifier(loop)] = try await ConnectionPool.start(
                settings, on: EventLoopTaskExecutor(loop, meter: meter))
        }
        return pools
    }

    func close() async {
        await hub.close()
        await replica?.close()
        for pool in pools.values { await pool.close() }
    }
}
