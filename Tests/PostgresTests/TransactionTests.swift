import Synchronization
import Testing

@testable import Postgres

@Suite struct TransactionTests {
    let database: TestDatabase

    init() throws {
        database = try TestDatabase()
        try database.admin().execute("CREATE TABLE t (a int PRIMARY KEY)")
    }

    private func count() async throws -> Int64? {
        try await database.asAdmin { try $0.query("SELECT count(*) FROM t").int64(0, 0) }
    }

    @Test func commitsWhatItsBodyDid() async throws {
        try await withPool(database) { pool async throws in
            let statistics = Statistics()
            let value = try await pool.transaction { tx throws(PostgresError) in
                var segment = Segment(statistics: statistics)
                segment.append("INSERT INTO t VALUES (1) RETURNING a")
                let first = try await tx.run(segment)
                #expect(first.count == 1)
                _ = try await tx.run(.one("INSERT INTO t VALUES (2)"))
                return .commit(first[0].int32(0, 0))
            }
            #expect(value == 1)
            #expect(try await self.count() == 2)
            #expect(statistics.roundTripCount == 1, "BEGIN travels along")
            #expect(statistics.statementCount == 1)
        }
    }

    @Test func rollsBackWhenItsBodySaysSo() async throws {
        try await withPool(database) { pool async throws in
            let value = try await pool.transaction { tx throws(PostgresError) in
                _ = try await tx.run(.one("INSERT INTO t VALUES (1)"))
                return .rollback("as you like")
            }
            #expect(value == "as you like")
            #expect(try await self.count() == 0)
        }
    }

    @Test func rollsBackWhenItsBodyThrows() async throws {
        try await withPool(database, { $0.connectionCount = 1 }) { pool async throws in
            let error = await #expect(throws: PostgresError.self) {
                try await pool.transaction { tx throws(PostgresError) in
                    _ = try await tx.run(.one("INSERT INTO t VALUES (1)"))
                    _ = try await tx.run(.one("INSERT INTO t VALUES (1)"))
                    return .commit(())
                }
            }
            #expect(error?.sqlState == .uniqueViolation)
            #expect(try await self.count() == 0)
            #expect(try await pool.rows("SELECT 1").int32(0, 0) == 1)
        }
    }

    @Test func theFirstSegmentsErrorNamesItsOwnStatement() async throws {
        try await withPool(database) { pool async throws in
            let error = await #expect(throws: PostgresError.self) {
                try await pool.transaction { tx throws(PostgresError) in
                    _ = try await tx.run(.one("SELECT 1 / 0"))
                    return .commit(())
                }
            }
            guard case .server(let server)? = error else { return }
            #expect(server.statementIndex == 0)
        }
    }

    @Test func aFailureThatItsBodyHidesIsToldAtTheEnd() async throws {
        try await withPool(database) { pool async throws in
            let error = await #expect(throws: PostgresError.self) {
                try await pool.transaction { tx throws(PostgresError) in
                    _ = try await tx.run(.one("INSERT INTO t VALUES (1)"))
                    _ = try? await tx.run(.one("SELECT 1 / 0"))
                    return .commit(())
                }
            }
            #expect(error?.sqlState == SQLState(rawValue: "22012"))
            #expect(try await self.count() == 0)
        }
    }

    @Test func severalWaitInLineAndSegmentsPassThem() async throws {
        try await withPool(database, { $0.connectionCount = 2 }) { pool async throws in
            let running = Gauge()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<6 {
                    group.addTask(executorPreference: pool.executor) {
                        try await pool.transaction { tx throws(PostgresError) in
                            #expect(running.add(1) == 1, "one connection is left to the others")
                            _ = try await tx.run(
                                .one(Statement("INSERT INTO t VALUES (\(number))")))
                            _ = try await tx.run(.one("SELECT pg_sleep(0.05)"))
                            running.add(-1)
                            return .commit(())
                        }
                    }
                }
                for _ in 0..<20 { _ = try await pool.rows("SELECT 1") }
                try await group.waitForAll()
            }
            #expect(try await self.count() == 6)
        }
    }

    @Test func aCancelledOneIsRolledBackAndItsConnectionGoesOn() async throws {
        try await withPool(database, { $0.connectionCount = 1 }) { pool async throws in
            let task = Task(executorPreference: pool.executor) {
                try await pool.transaction { tx throws(PostgresError) in
                    _ = try await tx.run(.one("INSERT INTO t VALUES (1)"))
                    _ = try await tx.run(.one("SELECT pg_sleep(30)"))
                    return .commit(())
                }
            }
            try await database.waitUntilRuns("pg_sleep")
            task.cancel()
            await #expect(throws: PostgresError.cancelled) { try await task.value }
            #expect(
                try await pool.rows("SELECT pg_current_xact_id_if_assigned() IS NULL").bool(0, 0)
                    == true)
            #expect(try await self.count() == 0)
        }
    }

    @Test func cannotGoOnInAnotherSession() async throws {
        try await withPool(database, { $0.connectionCount = 1 }) { pool async throws in
            let error = await #expect(throws: PostgresError.self) {
                try await pool.transaction { tx throws(PostgresError) in
                    _ = try await tx.run(.one("INSERT INTO t VALUES (1)"))
                    do {
                        try await database.terminateSessions()
                        try await Task.sleep(for: .milliseconds(300))
                    } catch {
                        throw .unexpectedResult("\(error)")
                    }
                    _ = try await tx.run(.one("INSERT INTO t VALUES (2)"))
                    return .commit(())
                }
            }
            guard case .connectionLost? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(try await self.count() == 0)
            #expect(try await pool.rows("SELECT 1").int32(0, 0) == 1)
        }
    }

    @Test func isOverWhenItsBodyIs() async throws {
        try await withPool(database) { pool async throws in
            let escaped = try await pool.transaction { tx in .commit(tx) }
            await #expect(throws: PostgresError.closed) {
                _ = try await escaped.run(.one("SELECT 1"))
            }
        }
    }

    @Test func aSnapshotSeesTheSameAndChangesNothing() async throws {
        try await withPool(database) { pool async throws in
            let error = await #expect(throws: PostgresError.self) {
                try await pool.transaction(.snapshot) { tx throws(PostgresError) in
                    #expect(try await tx.run(.one("SELECT count(*) FROM t"))[0].int64(0, 0) == 0)
                    _ = try await pool.rows("INSERT INTO t VALUES (1)")
                    #expect(try await tx.run(.one("SELECT count(*) FROM t"))[0].int64(0, 0) == 0)
                    _ = try await tx.run(.one("INSERT INTO t VALUES (2)"))
                    return .commit(())
                }
            }
            #expect(error?.sqlState == SQLState(rawValue: "25006"))
        }
    }
}

private final class Gauge: Sendable {
    private let value = Atomic(0)

    @discardableResult
    func add(_ change: Int) -> Int {
        value.add(change, ordering: .relaxed).newValue
    }
}
