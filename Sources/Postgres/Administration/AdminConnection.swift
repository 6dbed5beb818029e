import CLibPQ

/// A connection that blocks its thread while the server works: for command-line tools, migrations and tests.
///
/// Statements run for as long as they need, unless a limit is set with SQL.
package final class AdminConnection {
    private let connection: OpaquePointer
    private var scratch = ParameterScratch()

    /// - Parameter url: a libpq URL or keyword string.
    package init(_ url: String, applicationName: String = "bookplate-admin") throws(PostgresError) {
        var configuration = PostgresConfiguration(url: url)
        configuration.applicationName = applicationName
        connection = try OpenedConnection.open(configuration).pointer
    }

    deinit {
        PQfinish(connection)
    }

    /// Runs SQL text of any number of statements, and throws their rows away.
    ///
    /// Without BEGIN and COMMIT in it, it is one transaction.
    package func execute(_ sql: String) throws(PostgresError) {
        let result = try checked(PQexec(connection, sql))
        PQclear(result)
    }

    /// Runs one statement.
    @discardableResult
    package func query(
        _ sql: String, _ parameters: Parameters = Parameters()
    ) throws(PostgresError) -> Rows {
        Rows(try checked(scratch.run(sql, parameters, on: connection)))
    }

    /// Runs a `COPY ... FROM STDIN` with the bytes of all chunks, one behind the other.
    ///
    /// - Returns: how many rows were copied.
    package func copy(
        _ sql: String, from chunks: some Sequence<[UInt8]>
    ) throws(PostgresError) -> Int {
        PQclear(try checked(PQexec(connection, sql), expecting: PGRES_COPY_IN))
        for chunk in chunks where !chunk.isEmpty {
            let isTaken = chunk.withUnsafeBytes { bytes in
                PQputCopyData(
                    connection, bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
                    Int32(truncatingIfNeeded: bytes.count)) == 1
            }
            guard isTaken else { break }  // the reason is in the result
        }
        _ = PQputCopyEnd(connection, nil)
        let rows = Rows(try checked(PQgetResult(connection)))
        drain()
        return rows.affectedCount
    }

    /// Whether a transaction has been begun and not ended.
    package var isInTransaction: Bool {
        switch PQtransactionStatus(connection) {
        case PQTRANS_INTRANS, PQTRANS_INERROR: true
        default: false
        }
    }

    private func checked(
        _ result: OpaquePointer?, expecting expected: ExecStatusType? = nil
    ) throws(PostgresError) -> OpaquePointer {
        guard let result else { throw .connectionLost(errorMessage(connection)) }
        let status = PQresultStatus(result)
        let isExpected =
            expected.map { $0 == status }
            ?? [PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY].contains(status)
        if isExpected { return result }
        defer { PQclear(result) }
        if status == PGRES_FATAL_ERROR {
            if PQstatus(connection) != CONNECTION_OK {
                throw .connectionLost(errorMessage(connection))
            }
            let error = ServerError(result, statementIndex: nil)
            drain()
            throw .server(error)
        }
        if status == PGRES_COPY_IN {
            _ = PQputCopyEnd(connection, "COPY has no data here")
        }
        drain()
        throw .unexpectedResult(String(cString: PQresStatus(status)))
    }

    /// Reads what is left of the last command, so that the next one may be sent.
    private func drain() {
        while let result = PQgetResult(connection) {
            let status = PQresultStatus(result)
            PQclear(result)
            // In the midst of a COPY out libpq would give the same answer for ever.
            if status == PGRES_COPY_OUT || status == PGRES_COPY_IN { return }
        }
    }
}
