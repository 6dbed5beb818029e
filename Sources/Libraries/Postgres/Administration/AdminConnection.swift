import CLibPQ

/// A connection that blocks its thread during each statement; for command-line tools, migrations, and
/// tests.
///
/// Statements have no timeout unless SQL sets one. The methods throw `.server` if the server rejects a statement, and
/// `.connectionLost` if the connection does not work anymore.
package final class AdminConnection {
    /// The kind of pooler between this program and the database.
    package let pooler: Pooler
    private let connection: OpaquePointer
    private var scratch = ParameterScratch()

    /// Connects to the server.
    ///
    /// - Parameter url: A libpq URL or keyword string.
    /// - Throws: `.connectFailed`.
    package init(_ url: String, applicationName: String = "bookplate-admin") throws(PostgresError) {
        var configuration = PostgresConfiguration(url: url)
        configuration.applicationName = applicationName
        // The server does not read a large statement while an earlier one waits for a lock.
        configuration.tcpUserTimeout = Link.patientTimeout
        let opened = try OpenedConnection.open(configuration)
        do throws(PostgresError) {
            pooler = try opened.pooler(configuration)
        } catch {
            PQfinish(opened.pointer)
            throw error
        }
        connection = opened.pointer
    }

    deinit {
        PQfinish(connection)
    }

    /// Runs any number of SQL statements and discards their rows.
    ///
    /// The statements form one transaction unless the text contains BEGIN or COMMIT.
    package func execute(_ sql: String) throws(PostgresError) {
        let result = try checked(PQexec(connection, sql))
        PQclear(result)
    }

    /// Runs one statement and returns its rows.
    @discardableResult
    package func query(
        _ sql: String, _ parameters: Parameters = Parameters()
    ) throws(PostgresError) -> Rows {
        Rows(try checked(scratch.run(sql, parameters, on: connection)))
    }

    /// Sends one statement, whose rows `receive` returns. The server runs it while this thread continues.
    package func send(_ sql: String, _ parameters: Parameters) throws(PostgresError) {
        guard scratch.send(sql, parameters, on: connection) else {
            throw .connectionLost(errorMessage(connection))
        }
    }

    /// Waits for the statement of the last `send`, and returns its rows.
    package func receive() throws(PostgresError) -> Rows {
        let rows = Rows(try checked(PQgetResult(connection)))
        drain()
        return rows
    }

    /// Runs a `COPY ... FROM STDIN` with the concatenated bytes of all chunks.
    ///
    /// - Parameter chunks: Chunks of at most 2 GiB - 1 byte each, in any division.
    /// - Returns: The number of rows copied.
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
            guard isTaken else { break }  // the result below contains the error
        }
        _ = PQputCopyEnd(connection, nil)
        let rows = Rows(try checked(PQgetResult(connection)))
        drain()
        return rows.affectedCount
    }

    /// Whether a transaction is open, including one that has failed.
    package var isInTransaction: Bool {
        switch PQtransactionStatus(connection) {
        case PQTRANS_INTRANS, PQTRANS_INERROR: true
        default: false
        }
    }

    /// Returns the result if its status is the expected one (by default, success); otherwise frees it and
    /// throws the error.
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
            _ = PQputCopyEnd(connection, "no data was provided for COPY FROM STDIN")
        }
        drain()
        throw .unexpectedResult(String(cString: PQresStatus(status)))
    }

    /// Reads the remaining results of the last command, so that the next one can be sent.
    private func drain() {
        while let result = PQgetResult(connection) {
            let status = PQresultStatus(result)
            PQclear(result)
            // While a COPY is active, PQgetResult returns the same result forever.
            if status == PGRES_COPY_OUT || status == PGRES_COPY_IN { return }
        }
    }
}
