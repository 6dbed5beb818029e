import EventLoops
import Foundation
import Glibc
import NIOPosix
import Postgres
import TestBasics
import TestSupport
import Testing

/// How long connections wait for a machine that does not acknowledge data, or does not read it: `TCP_USER_TIMEOUT`.
@Suite struct ConnectionTimeoutTests {
    /// The timeouts of this process's connections to a local TCP port, in milliseconds.
    private static func timeouts(port: Int) throws -> [CUnsignedInt] {
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        return descriptors.compactMap { Int32($0) }.compactMap { descriptor in
            var address = sockaddr_in()
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isConnected = withUnsafeMutableBytes(of: &address) { bytes in
                getpeername(
                    descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), &size)
                    == 0
            }
            guard isConnected, address.sin_family == sa_family_t(AF_INET),
                Int(UInt16(bigEndian: address.sin_port)) == port
            else { return nil }
            var timeout: CUnsignedInt = 0
            size = socklen_t(MemoryLayout<CUnsignedInt>.size)
            let code = getsockopt(
                descriptor, CInt(IPPROTO_TCP), TCP_USER_TIMEOUT, &timeout, &size)
            return code == 0 ? timeout : nil
        }
    }

    /// Runs a test with a pool of one connection to PgBouncer, because the database has no TCP port.
    ///
    /// - Parameter test: Gets the pool, the port of PgBouncer, and a direct connection to the database.
    private func withPool(
        tcpUserTimeout: Duration? = nil,
        _ test: (ConnectionPool, Int, AdminConnection) async throws -> Void
    ) async throws {
        let installation = try await Installation.ready(catalog: [])
        let blocker = try AdminConnection(try installation.database.url())
        try await PoolerProgram.pgbouncerInSessionMode.run(before: installation) { pooled in
            var configuration = PostgresConfiguration(
                url: try pooled(installation.database.url(as: TestCluster.app)))
            configuration.connectionCount = 1
            if let tcpUserTimeout { configuration.tcpUserTimeout = tcpUserTimeout }
            let port = try #require(
                Int(try ConnectionString(configuration.url)["port"] ?? ""))
            let pool = try await ConnectionPool.start(
                configuration,
                on: EventLoopTaskExecutor(MultiThreadedEventLoopGroup.singleton.next()))
            try await test(pool, port, blocker)
            await pool.close()
        }
    }

    @Test func theTimeoutIsLongerWhileALargePipelineRuns() async throws {
        try await withPool { pool, port, blocker in
            let statement = Statement("SELECT pg_advisory_xact_lock(1), length($1)")
            for (size, timeout) in [(32 << 10, 3000), (40 << 10, 60_000)] {
                _ = try blocker.query("SELECT pg_advisory_lock(1)")
                var parameters = Parameters()
                parameters.append(text: String(repeating: "x", count: size / 2))
                var pipeline = Pipeline(isReadOnly: true)
                pipeline.append(statement, parameters)
                pipeline.append(statement, parameters)
                let running = Task { [pipeline] in try await pool.run(pipeline) }
                try await waitUntil("the pipeline waits for the lock") {
                    try blocker.query(
                        """
                        SELECT FROM pg_locks l JOIN pg_database d ON d.oid = l.database
                        WHERE d.datname = current_database() AND l.locktype = 'advisory' AND NOT l.granted
                        """
                    ).count > 0
                }
                #expect(try Self.timeouts(port: port) == [CUnsignedInt(timeout)])
                _ = try blocker.query("SELECT pg_advisory_unlock(1)")
                _ = try await running.value
                #expect(try Self.timeouts(port: port) == [3000])
            }
        }
    }

    /// Each of the two pipelines waits for a lock of its own, so the test decides when it ends.
    @Test func theTimeoutIsLongerUntilTheLastLargePipelineEnds() async throws {
        try await withPool(tcpUserTimeout: .seconds(1)) { pool, port, blocker in
            _ = try await pool.run(.one(Statement("SELECT 1")))
            #expect(try Self.timeouts(port: port) == [1000])
            _ = try blocker.query("SELECT pg_advisory_lock(1), pg_advisory_lock(2)")
            let statement = Statement("SELECT pg_advisory_xact_lock($1), length($2)")
            var running: [Task<[Rows], any Error>] = []
            for key in 1...2 {
                var parameters = Parameters()
                parameters.append(int64: Int64(key))
                parameters.append(text: String(repeating: "x", count: 40 << 10))
                let pipeline = Pipeline.one(statement, parameters)
                running.append(Task { try await pool.run(pipeline) })
                try await waitUntil("\(key) pipelines are in flight") {
                    await pool.metrics().inFlightCount == key
                }
                #expect(try Self.timeouts(port: port) == [60_000])
            }
            _ = try blocker.query("SELECT pg_advisory_unlock(1)")
            _ = try await running[0].value
            #expect(try Self.timeouts(port: port) == [60_000])
            _ = try blocker.query("SELECT pg_advisory_unlock(2)")
            _ = try await running[1].value
            #expect(try Self.timeouts(port: port) == [1000])
            #expect(await pool.metrics().lostConnectionCount == 0)
        }
    }

    @Test func connectionsOfTheAdminCLIWaitForAMinute() async throws {
        let installation = try await Installation.ready(catalog: [])
        try await PoolerProgram.pgbouncerInSessionMode.run(before: installation) { pooled in
            let url = try pooled(installation.database.url(as: TestCluster.owner))
            let port = try #require(Int(try ConnectionString(url)["port"] ?? ""))
            let connection = try AdminConnection(url)
            #expect(try Self.timeouts(port: port) == [60_000])
            try connection.execute("SELECT 1")
        }
    }
}
