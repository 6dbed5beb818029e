import Testing

@testable import Postgres

@Suite struct SegmentTests {
    @Test func givesTheRowsOfEachStatementInOrder() async throws {
        let database = try TestDatabase()
        try await withPool(database) { pool in
            var segment = Segment()
            for number in 0..<50 {
                var parameters = Parameters()
                parameters.append(int32: Int32(number))
                segment.append(Statement("SELECT $1 + \(number)"), parameters)
            }
            let rows = try await pool.run(segment)
            #expect(rows.map { $0.int32(0, 0) } == (0..<50).map { Int32($0 * 2) })
        }
    }
}
