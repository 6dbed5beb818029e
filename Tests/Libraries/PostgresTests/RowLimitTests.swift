import Glibc
import Synchronization
import Testing

@testable import Postgres

/// The limit on the rows of one pipeline, which are counted while they arrive.
@Suite struct RowLimitTests {
    private static let megabyte = 1 << 20
    /// Returns a row of one megabyte.
    private static let megabyteRow = Statement("SELECT repeat('x', \(megabyte))")

    let database: TestDatabase

    init() throws {
        database = try TestDatabase()
    }

    private func pipeline(
        _ statements: [Statement], isReadOnly: Bool = true, bytesMax: Int?
    ) -> Pipeline {
        var pipeline = Pipeline(isReadOnly: isReadOnly)
        for statement in statements { pipeline.append(statement) }
        pipeline.rowBytesMax = bytesMax
        return pipeline
    }

    @Test func rowsWithinTheLimitAreReturned() async throws {
        try await withPool(database) { pool async throws in
            let statements = Array(repeating: Self.megabyteRow, count: 3)
            let rows = try await pool.run(pipeline(statements, bytesMax: 4 * Self.megabyte))
            #expect(
                rows.map { $0.bytes(0, 0)?.count } == [Self.megabyte, Self.megabyte, Self.megabyte])
            #expect(
                rows.allSatisfy { (Self.megabyte..<Self.megabyte + 8192).contains($0.byteCount) })
        }
    }

    @Test func rowsOfAllStatementsCountTogether() async throws {
        let bytesMax = 4 * Self.megabyte
        try await withPool(database, { $0.connectionCount = 1 }) { pool async throws in
            let statements = Array(repeating: Self.megabyteRow, count: 5)
            await #expect(throws: PostgresError.rowsTooLarge(bytesMax: bytesMax)) {
                _ = try await pool.run(pipeline(statements, bytesMax: bytesMax))
            }
            // The connection stays usable, and the next pipeline counts from 0.
            #expect(
                try await pool.run(pipeline(Array(statements.prefix(3)), bytesMax: bytesMax)).count
                    == 3)
            #expect(try await pool.run(pipeline(statements, bytesMax: nil)).count == 5)
            #expect(await pool.metrics().lostConnectionCount == 0)
        }
    }

    /// The result of a committed change is always returned.
    @Test func onlyReadOnlyPipelinesAreLimited() async throws {
        try await withPool(database) { pool async throws in
            let rows = try await pool.run(
                pipeline([Self.megabyteRow], isReadOnly: false, bytesMax: 1))
            #expect(rows.count == 1)
        }
    }

    /// The result would be 4 GiB large. It is measured while it arrives, and its statement is cancelled.
    @Test(arguments: [ReadinessMethod.aio, .thread], [100, 100_000])
    func aStatementIsCancelledWhenItsRowsExceedTheLimit(
        readiness: ReadinessMethod, rowBytes: Int
    ) async throws {
        let cancelCount = Atomic(0)
        let statement = Statement(
            "SELECT repeat('x', \(rowBytes)) FROM generate_series(1, \((4 << 30) / rowBytes))")
        let bytesMax = 16 * Self.megabyte
        try await withPool(
            database,
            {
                $0.connectionCount = 1
                $0.statementTimeout = .zero
                $0.readiness = readiness
                $0.onEvent = {
                    if case .statementCancelled = $0 { cancelCount.add(1, ordering: .relaxed) }
                }
            }
        ) { pool async throws in
            let before = try peakBytes()
            let refused = pipeline([statement, Self.megabyteRow], bytesMax: bytesMax)
            await #expect(throws: PostgresError.rowsTooLarge(bytesMax: bytesMax)) {
                _ = try await pool.run(refused)
            }
            #expect(try await pool.rows("SELECT 1").int32(0, 0) == 1)
            #expect(await pool.metrics().lostConnectionCount == 0)
            #expect(cancelCount.load(ordering: .relaxed) >= 1)
            #expect(try peakBytes() - before < 256 * Self.megabyte)
        }
    }

    /// The largest size that this process has had in memory.
    private func peakBytes() throws -> Int {
        var usage = rusage()
        #expect(getrusage(CInt(RUSAGE_SELF.rawValue), &usage) == 0)
        return usage.ru_maxrss << 10
    }
}
