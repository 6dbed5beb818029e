import ObjectStorage
import Postgres

/// Leases of writes in the table `object_writes`, which all servers and commands share.
package struct DatabaseLeases: WriteLeases {
    package typealias RunStatement =
        @Sendable (Statement, Parameters) async throws(PostgresError) -> Rows

    private let runStatement: RunStatement

    /// - Parameter runStatement: Runs one statement in a transaction of its own.
    package init(_ runStatement: @escaping RunStatement) { self.runStatement = runStatement }

    /// Creates the leases of a server.
    package init(_ database: ConnectionPool) {
        self.init { statement, parameters throws(PostgresError) in
            try await database.run(.one(statement, parameters))[0]
        }
    }

    /// Creates the leases of a command, which opens a connection of its own when it first needs one.
    package init(adminURL: String) {
        let database = LeaseDatabase(url: adminURL)
        self.init { statement, parameters throws(PostgresError) in
            try await database.run(statement, parameters)
        }
    }

    package func begin(_ version: String, seconds: Int) async throws(ObjectError) {
        var parameters = Parameters()
        parameters.append(text: version)
        parameters.append(int32: Int32(clamping: seconds))
        _ = try await run(Self.begin, parameters)
    }

    package func end(_ version: String) async throws(ObjectError) {
        var parameters = Parameters()
        parameters.append(text: version)
        _ = try await run(Self.end, parameters)
    }

    package func pending() async throws(ObjectError) -> Set<String> {
        Set(try await run(Self.pending, Parameters()).decode(String.self))
    }

    package func removeExpired(isDryRun: Bool) async throws(ObjectError) -> Int {
        let rows = try await run(
            isDryRun ? Self.countExpired : Self.deleteExpired, Parameters())
        return Int(rows.decode(Int64.self).first ?? 0)
    }

    private func run(
        _ statement: Statement, _ parameters: Parameters
    ) async throws(ObjectError) -> Rows {
        do throws(PostgresError) {
            return try await runStatement(statement, parameters)
        } catch {
            throw .unavailable("the writes in progress cannot be recorded: \(error)")
        }
    }

    /// Records that a version will be written within the given seconds, or extends the time of one that is recorded.
    private static let begin = Statement(
        """
        INSERT INTO object_writes AS w (version, expires_at)
        VALUES ($1, now() + make_interval(secs => $2))
        ON CONFLICT (version) DO UPDATE
        SET expires_at = greatest(w.expires_at, excluded.expires_at)
        """)
    /// Removes the record of a write whose transaction has ended.
    private static let end = Statement("DELETE FROM object_writes WHERE version = $1")
    private static let pending = Statement(
        "SELECT version FROM object_writes WHERE expires_at > now()")
    /// Counts the writes whose process has died.
    private static let countExpired = Statement(
        "SELECT count(*) FROM object_writes WHERE expires_at <= now()")
    private static let deleteExpired = Statement(
        """
        WITH deleted AS (
            DELETE FROM object_writes
            WHERE expires_at <= now()
            RETURNING version
        )
        SELECT count(*)
        FROM deleted
        """)
}

/// The connection of a command for its leases.
private actor LeaseDatabase {
    private let url: String
    private var connection: AdminConnection?

    init(url: String) { self.url = url }

    func run(_ statement: Statement, _ parameters: Parameters) throws(PostgresError) -> Rows {
        let connection: AdminConnection
        if let open = self.connection {
            connection = open
        } else {
            connection = try AdminConnection(url)
            self.connection = connection
        }
        do throws(PostgresError) {
            return try connection.query(statement.text, parameters)
        } catch {
            // The next statement opens another connection.
            if case .server = error {} else { self.connection = nil }
            throw error
        }
    }
}
