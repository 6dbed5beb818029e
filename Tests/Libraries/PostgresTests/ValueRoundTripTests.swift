import Testing

@testable import Postgres

/// Values that are sent to the server and back, in the binary format both ways.
@Suite struct ValueRoundTripTests {
    let database: TestDatabase
    let admin: AdminConnection

    init() throws {
        database = try TestDatabase()
        admin = try database.admin()
    }

    private func echo(_ fill: (inout Parameters) -> Void) throws -> Rows {
        var parameters = Parameters()
        fill(&parameters)
        return try admin.query("SELECT $1, $1 IS NULL", parameters)
    }

    @Test func scalars() throws {
        #expect(try echo { $0.append(bool: true) }.bool(0, 0) == true)
        #expect(try echo { $0.append(bool: false) }.bool(0, 0) == false)
        #expect(try echo { $0.append(int32: .min) }.int32(0, 0) == .min)
        #expect(try echo { $0.append(int64: .max) }.int64(0, 0) == .max)
        #expect(try echo { $0.append(float8: -0.1) }.float8(0, 0) == -0.1)
        #expect(try echo { $0.append(text: "Grüße, 世界 🙂") }.text(0, 0) == "Grüße, 世界 🙂")
        #expect(try echo { $0.append(text: "") }.text(0, 0) == "")
        let uuid = UUID.version7()
        #expect(try echo { $0.append(uuid: uuid) }.uuid(0, 0) == uuid)
        #expect(try echo { $0.append(json: Array("{\"a\": 1}".utf8)) }.text(0, 0) == "{\"a\": 1}")
        let bytes: [UInt8] = [0, 255, 1]
        let echoed = try echo { $0.append(bytea: bytes) }
        withExtendedLifetime(echoed) { #expect(echoed.bytes(0, 0).map(Array.init) == bytes) }
    }

    @Test func serverDecodesValuesCorrectly() throws {
        var parameters = Parameters()
        parameters.append(timestamptz: 1_700_000_000_123_456)
        parameters.append(date: 19_675)
        parameters.append(jsonb: Array(#"{"b": [1, null]}"#.utf8))
        parameters.append(float8: 2.5)
        let rows = try admin.query(
            """
            SELECT ($1 AT TIME ZONE 'UTC')::text, $2::text, $3::text, $4::text, $1, $2,
                'infinity'::timestamptz, '-infinity'::timestamptz, 7::int2, 1.5::float4
            """, parameters)
        #expect(
            (0..<4).map { rows.text(0, $0) } == [
                "2023-11-14 22:13:20.123456", "2023-11-14", #"{"b": [1, null]}"#, "2.5",
            ])
        #expect(rows.timestamptz(0, 4) == 1_700_000_000_123_456)
        #expect(rows.date(0, 5) == 19_675)
        #expect(rows.timestamptz(0, 6) == .max)
        #expect(rows.timestamptz(0, 7) == .min)
        #expect(rows.int32(0, 8) == 7)
        #expect(rows.float8(0, 9) == 1.5)
    }

    @Test func nullOfEachType() throws {
        let kinds: [(inout Parameters) -> Void] = [
            { $0.append(bool: nil) }, { $0.append(int32: nil) }, { $0.append(int64: nil) },
            { $0.append(float8: nil) }, { $0.append(uuid: nil) }, { $0.append(timestamptz: nil) },
            { $0.append(date: nil) }, { $0.append(text: String?.none) },
            { $0.append(bytea: [UInt8]?.none) }, { $0.append(jsonb: [UInt8]?.none) },
            { $0.appendNull(.uuid.array) },
        ]
        for kind in kinds {
            let rows = try echo(kind)
            #expect(rows.isNull(0, 0))
            #expect(rows.bool(0, 1) == true)
            #expect(rows.text(0, 0) == nil)
        }
    }

    @Test func arrays() throws {
        let uuids = (0..<100).map { _ in UUID.version7() }
        #expect(try echo { $0.append(uuids: uuids) }.uuids(0, 0) == uuids)
        #expect(try echo { $0.append(uuids: []) }.uuids(0, 0) == [])
        #expect(try echo { $0.append(texts: ["", "a,b", "{}"]) }.texts(0, 0) == ["", "a,b", "{}"])
        var parameters = Parameters()
        parameters.appendArray(of: .int32) { elements in
            elements.append(int32: 1)
            elements.appendNull()
            elements.append(int32: 3)
        }
        parameters.append(int64s: [1, 2])
        parameters.appendArray(of: .timestamptz) { $0.append(timestamptz: 0) }
        let rows = try admin.query(
            "SELECT $1::text, $2::text, extract(epoch FROM $3[1])::int8, $1", parameters)
        #expect(rows.text(0, 0) == "{1,NULL,3}")
        #expect(rows.text(0, 1) == "{1,2}")
        #expect(rows.int64(0, 2) == 0)
        #expect(rows.texts(0, 3) == nil)
    }

    @Test func cellsCanBeParametersOfTheNextStatement() throws {
        let parents = try admin.query(
            "SELECT gen_random_uuid() AS id FROM generate_series(1, 20) UNION ALL SELECT NULL")
        let column = try #require(parents.column("id"))
        var parameters = Parameters()
        parameters.appendArray(of: .uuid) { elements in
            for row in 0..<parents.count { elements.append(cell: parents.bytes(row, column)) }
        }
        let rows = try admin.query(
            "SELECT count(*), count(id) FROM unnest($1) AS t (id)", parameters)
        #expect(rows.int64(0, 0) == 21)
        #expect(rows.int64(0, 1) == 20)
        #expect(parents.type(ofColumn: column) == .uuid)
    }

    @Test func readersOfAnotherTypeReturnNil() throws {
        let rows = try admin.query(
            "SELECT 'abc'::text, 1::int8, true, '{1,2}'::int4[], '{{a},{b}}'::text[]")
        #expect(rows.uuid(0, 0) == nil)
        #expect(rows.int64(0, 0) == nil)
        #expect(rows.float8(0, 0) == nil)
        #expect(rows.bool(0, 0) == nil)
        #expect(rows.texts(0, 0) == nil)
        #expect(rows.date(0, 1) == nil)
        #expect(rows.timestamptz(0, 2) == nil)
        #expect(rows.uuids(0, 3) == nil)
        #expect(rows.texts(0, 4) == nil)
        #expect(try admin.query("SELECT 3000000000::int8").int32(0, 0) == nil)
    }

    @Test(arguments: [(-1, 0), (0, -1), (1, 0), (0, 1), (.max, 0), (0, .max), (.min, .min)])
    func cellsOutOfRangeAreNil(row: Int, column: Int) throws {
        let rows = try admin.query("SELECT 1")
        #expect(rows.int32(row, column) == nil)
        #expect(rows.isNull(row, column))
    }

    @Test func textWithInferredTypeCanBeAnEnum() throws {
        try admin.execute("CREATE TYPE mood AS ENUM ('calm', 'wild')")
        var parameters = Parameters()
        parameters.append(text: "wild", as: .inferred)
        #expect(
            try admin.query("SELECT $1::mood = 'wild', $1::mood", parameters).text(0, 1) == "wild")
        var wrong = Parameters()
        wrong.append(text: "gone", as: .inferred)
        #expect(throws: PostgresError.self) { try admin.query("SELECT $1::mood", wrong) }
    }

    @Test func serverRejectsTextWithANULByte() throws {
        var parameters = Parameters()
        parameters.append(text: "a\0b")
        let error = #expect(throws: PostgresError.self) { try admin.query("SELECT $1", parameters) }
        #expect(error?.sqlState == SQLState(rawValue: "22021"))
        #expect(try admin.query("SELECT 1").int32(0, 0) == 1)
    }

    @Test func reportsTheNumberOfAffectedRows() throws {
        try admin.execute("CREATE TABLE t (a int)")
        let rows = try admin.query("INSERT INTO t SELECT generate_series(1, 3)")
        #expect(rows.affectedCount == 3)
        #expect(rows.count == 0)
        #expect(rows.column("a") == nil)
    }
}
