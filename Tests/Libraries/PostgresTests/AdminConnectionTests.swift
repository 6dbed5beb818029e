import Testing

@testable import Postgres

@Suite struct AdminConnectionTests {
    let admin: AdminConnection
    private let database: TestDatabase

    init() throws {
        database = try TestDatabase()
        admin = try database.admin()
    }

    @Test func copiesRowsIn() throws {
        try admin.execute("CREATE TABLE t (a int, b text)")
        let chunks = ["1\tone\n2\tt", "wo\n", "", "3\tthree\n"].map { Array($0.utf8) }
        #expect(try admin.copy("COPY t FROM STDIN", from: chunks) == 3)
        #expect(try admin.query("SELECT b FROM t WHERE a = 2").text(0, 0) == "two")
    }

    @Test func remainsUsableAfterAFailedCopy() throws {
        try admin.execute("CREATE TABLE t (a int)")
        #expect(throws: PostgresError.self) {
            _ = try admin.copy("COPY t FROM STDIN", from: [Array("one\n".utf8)])
        }
        #expect(throws: PostgresError.self) { _ = try admin.copy("SELECT 1", from: []) }
        #expect(throws: PostgresError.self) { try admin.execute("COPY t FROM STDIN") }
        #expect(try admin.query("SELECT count(*) FROM t").int64(0, 0) == 0)
    }

    @Test func reportsTheFieldsOfAServerError() throws {
        try admin.execute("CREATE TABLE t (a int CONSTRAINT positive CHECK (a > 0))")
        let error = #expect(throws: PostgresError.self) {
            try admin.query("INSERT INTO t VALUES (0)")
        }
        guard case .server(let server)? = error else {
            Issue.record("expected a server error, got \(String(describing: error))")
            return
        }
        #expect(server.sqlState == .checkViolation)
        #expect(server.constraint == "positive")
        #expect(server.table == "t")
        #expect(server.detail?.contains("(0)") == true)
    }

    @Test func rejectsInvalidConnectionStrings() {
        #expect(throws: PostgresError.self) { try ConnectionString("postgresql://[") }
        #expect(throws: PostgresError.self) { try AdminConnection("host=/nowhere") }
    }

    /// libpq's own messages have line breaks and tabs.
    @Test(arguments: ["host=127.0.0.1 port=1", "postgresql://["])
    func errorsAreOnOneLine(text: String) {
        let error = #expect(throws: PostgresError.self) { try AdminConnection(text) }
        guard case .connectFailed(let reason)? = error else {
            Issue.record("expected a failed connection, got \(String(describing: error))")
            return
        }
        #expect(!reason.contains { $0.isNewline || $0 == "\t" }, "\(reason)")
    }

    @Test func connectionStringEscapesSpecialCharacters() throws {
        var text = try ConnectionString("postgresql:///shelf?host=/tmp&user=reader")
        text["password"] = #"it's a \ "secret""#
        #expect(try ConnectionString(text.description)["password"] == #"it's a \ "secret""#)
        #expect(text["dbname"] == "shelf")
    }
}
