import CLibPQ

/// A libpq connection being handed from the thread that opened it to the loop that uses it.
///
/// `Sendable` because ownership moves: libpq only requires that one thread at a time uses a connection.
struct OpenedConnection: @unchecked Sendable {
    let pointer: OpaquePointer
}

extension OpenedConnection {
    /// Connects while blocking the thread; for helper threads and command-line tools.
    ///
    /// libpq's non-blocking connect is not used: it still blocks on name servers, password files, and
    /// TLS, and leaves the timeout to its caller.
    ///
    /// - Throws: `.connectFailed` with libpq's message.
    static func open(
        _ configuration: PostgresConfiguration
    ) throws(PostgresError) -> OpenedConnection {
        let seconds = max(2, configuration.connectTimeout.components.seconds)
        // The URL in `dbname` overrides the settings before it, but not those after it. A machine that was lost sends no packet,
        // and is noticed after `tcpUserTimeout`. On Linux this time also ends the keepalives.
        let settings: [(key: String, value: String)] =
            [
                ("connect_timeout", String(seconds)),
                ("keepalives_idle", "1"), ("keepalives_interval", "1"), ("keepalives_count", "3"),
                ("tcp_user_timeout", String(configuration.tcpUserTimeout.timeoutMilliseconds)),
                ("dbname", configuration.url),
                ("fallback_application_name", configuration.applicationName),
                ("client_encoding", "UTF8"),
            ] + HostOrder.settings(of: configuration.url)
        let connection = withCStrings(settings.map(\.key)) { keys in
            withCStrings(settings.map(\.value)) { values in
                PQconnectdbParams(keys, values, 1)
            }
        }
        guard let connection else { throw .connectFailed("out of memory") }
        // Discards NOTICE messages, which libpq would otherwise print to standard error.
        PQsetNoticeProcessor(connection, { _, _ in }, nil)
        guard PQstatus(connection) == CONNECTION_OK else {
            let message = errorMessage(connection)
            PQfinish(connection)
            throw .connectFailed(message)
        }
        HostOrder.answered(configuration.url, connection)
        return OpenedConnection(pointer: connection)
    }

    /// Applies the session settings and returns the same connection.
    ///
    /// This takes one blocking round trip, or more if there is a connection pooler.
    func configureSession(
        _ configuration: PostgresConfiguration
    ) throws(PostgresError) -> OpenedConnection {
        do throws(PostgresError) {
            // A pooler may share a session with other clients. Settings are applied only if the session belongs to this connection.
            let sets = Self.sessionSettings(configuration)
            let clientPort = try firstValue(
                "\(sets) WHERE pg_backend_pid() = \(PQbackendPID(pointer))")
            if let clientPort {
                if isBehindRawPgpool(configuration, clientPort: clientPort) {
                    throw .connectFailed(Pooler.rawRefusal)
                }
            } else {
                switch try pooler(configuration) {
                case .session: _ = try firstValue(sets)
                case .unknown: throw .connectFailed(Pooler.undetermined)
                case .raw: throw .connectFailed(Pooler.rawRefusal)
                case .none, .transaction: throw .connectFailed(Pooler.refusal)
                }
            }
            if let refusal = configuration.refusal { try refuse(refusal) }
        } catch {
            PQfinish(pointer)
            throw error
        }
        return self
    }

    /// Returns the query that applies the session settings. Its first column is the TCP port of the database's client; an empty
    /// string for a Unix socket.
    ///
    /// - `jit` is off: compilation costs more than it saves for short statements, and delays the first execution.
    /// - `plan_cache_mode`: the statements are written for one generic plan, because replanning takes longer than it saves.
    /// - `client_min_messages`: a warning says that a commit did not wait for a synchronous standby.
    private static func sessionSettings(_ configuration: PostgresConfiguration) -> String {
        """
        SELECT coalesce(inet_client_port()::text, ''),
            set_config('statement_timeout', '\(configuration.statementTimeout.timeoutMilliseconds)', false),
            set_config('idle_in_transaction_session_timeout',
                '\(configuration.idleInTransactionTimeout.timeoutMilliseconds)', false),
            set_config('client_min_messages', 'warning', false),
            set_config('jit', 'off', false),
            set_config('plan_cache_mode', 'force_generic_plan', false)
        """
    }

    /// Returns the first value of the first row; nil if there is no row.
    private func firstValue(_ query: String) throws(PostgresError) -> String? {
        let result = try execute(query)
        defer { PQclear(result) }
        return PQntuples(result) > 0 ? String(cString: PQgetvalue(result, 0, 0)) : nil
    }

    /// - Throws: `.connectFailed` with the text that the query returns, or with the error of the query.
    private func refuse(_ query: String) throws(PostgresError) {
        let result = try execute(query)
        defer { PQclear(result) }
        if PQntuples(result) > 0, PQgetisnull(result, 0, 0) == 0 {
            throw .connectFailed(String(cString: PQgetvalue(result, 0, 0)))
        }
    }
}

/// Returns libpq's last error message for the connection, on one line.
func errorMessage(_ connection: OpaquePointer) -> String {
    oneLine(PQerrorMessage(connection).map { String(cString: $0) } ?? "")
}

/// Returns a message of libpq, which may have line breaks and tabs, on one line.
func oneLine(_ message: String) -> String {
    message.split(whereSeparator: \.isWhitespace).joined(separator: " ")
}

extension ServerError {
    /// Creates an error from the fields of a failed result.
    init(_ result: OpaquePointer, statementIndex: Int?) {
        func field(_ code: Character) -> String? {
            code.asciiValue
                .flatMap { PQresultErrorField(result, Int32($0)) }
                .map { String(cString: $0) }
        }
        self.init(
            sqlState: SQLState(rawValue: field("C") ?? ""),
            message: field("M") ?? String(cString: PQresultErrorMessage(result)),
            detail: field("D"), hint: field("H"), table: field("t"), column: field("c"),
            constraint: field("n"), statementIndex: statementIndex)
    }
}

/// Returns whether the error ends the connection: its severity is FATAL or PANIC, or is missing.
func isFatal(_ result: OpaquePointer) -> Bool {
    guard let severity = PQresultErrorField(result, Int32(UInt8(ascii: "V"))) else { return true }
    return String(cString: severity) != "ERROR"
}

/// Returns whether a prepared statement is unusable because the result type of its query has changed
/// (a table it reads was altered) or because it was deallocated on the server.
func isStale(_ result: OpaquePointer, _ error: ServerError) -> Bool {
    if error.sqlState == .invalidStatementName { return true }
    guard error.sqlState == .featureNotSupported,
        let function = PQresultErrorField(result, Int32(UInt8(ascii: "R")))
    else { return false }
    return String(cString: function) == "RevalidateCachedQuery"
}

/// Passes the strings to `body` as a null-terminated C array that is valid only during the call.
func withCStrings<Result>(
    _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
) -> Result {
    var bytes: [CChar] = []
    var offsets: [Int] = []
    for string in strings {
        offsets.append(bytes.count)
        bytes += string.utf8CString
    }
    return bytes.withUnsafeBufferPointer { buffer in
        var pointers = offsets.map { offset in buffer.baseAddress.map { $0 + offset } }
        pointers.append(nil)
        // The array holds at least the null terminator, so its base address is not nil.
        return pointers.withUnsafeBufferPointer { body($0.baseAddress!) }
    }
}

extension Duration {
    /// Whole milliseconds.
    package var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }

    /// Whole milliseconds, from 0 to 2^31 - 1, the maximum of PostgreSQL's timeout settings.
    var timeoutMilliseconds: Int32 {
        Int32(clamping: max(.zero, min(self, .milliseconds(Int32.max))).milliseconds)
    }
}
