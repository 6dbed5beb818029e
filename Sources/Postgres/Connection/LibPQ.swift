import CLibPQ

/// A connection of libpq on its way from the thread that opened it to the one that uses it.
///
/// Sendable because it is handed over: libpq asks only that no two threads use one at a time.
struct OpenedConnection: @unchecked Sendable {
    let pointer: OpaquePointer
}

extension OpenedConnection {
    /// Connects and sets the session up, blocking: for a helper thread or a command-line tool.
    ///
    /// libpq's own non-blocking way still waits for name servers, password files and TLS, and leaves
    /// the time limit to its caller.
    static func open(
        _ configuration: PostgresConfiguration
    ) throws(PostgresError) -> OpenedConnection {
        let seconds = max(2, configuration.connectTimeout.components.seconds)
        // What stands before dbname may be overridden by the URL, what stands after may not.
        let settings: KeyValuePairs = [
            "connect_timeout": String(seconds),
            "keepalives_idle": "30", "keepalives_interval": "10", "keepalives_count": "3",
            "tcp_user_timeout": "30000",
            "dbname": configuration.url,
            "fallback_application_name": configuration.applicationName,
            "client_encoding": "UTF8",
        ]
        let connection = withCStrings(settings.map(\.key)) { keys in
            withCStrings(settings.map(\.value)) { values in
                PQconnectdbParams(keys, values, 1)
            }
        }
        guard let connection else { throw .connectFailed("out of memory") }
        PQsetNoticeProcessor(connection, { _, _ in }, nil)  // libpq would print them
        guard PQstatus(connection) == CONNECTION_OK else {
            let message = errorMessage(connection)
            PQfinish(connection)
            throw .connectFailed(message)
        }
        return OpenedConnection(pointer: connection)
    }

    /// Sets what holds for each statement of the session, in one blocking round trip.
    func settingUp(
        _ configuration: PostgresConfiguration
    ) throws(PostgresError) -> OpenedConnection {
        // A short statement gains nothing from being compiled, and the first would wait for it.
        // Our statements are written for one plan: planning anew for each call costs more than it gains.
        let result = PQexec(
            pointer,
            """
            SELECT set_config('statement_timeout', '\(configuration.statementTimeout.milliseconds)', false),
                set_config('idle_in_transaction_session_timeout',
                    '\(configuration.idleInTransactionTimeout.milliseconds)', false),
                set_config('jit', 'off', false),
                set_config('plan_cache_mode', 'force_generic_plan', false)
            """)
        defer { PQclear(result) }
        guard PQresultStatus(result) == PGRES_TUPLES_OK else {
            let message = errorMessage(pointer)
            PQfinish(pointer)
            throw .connectFailed(message)
        }
        return self
    }
}

/// libpq's last word on the connection, in one line.
func errorMessage(_ connection: OpaquePointer) -> String {
    let text = PQerrorMessage(connection).map { String(cString: $0) } ?? ""
    return text.split(whereSeparator: \.isNewline).joined(separator: " ")
}

extension ServerError {
    /// The error that a result tells of.
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

/// Whether the error is the last thing that the connection had to say.
func isFatal(_ result: OpaquePointer) -> Bool {
    guard let severity = PQresultErrorField(result, Int32(UInt8(ascii: "V"))) else { return true }
    return String(cString: severity) != "ERROR"
}

/// Whether a prepared statement has become useless: the tables it reads were altered, or somebody deallocated it.
func isStale(_ result: OpaquePointer, _ error: ServerError) -> Bool {
    if error.sqlState == .invalidStatementName { return true }
    guard error.sqlState == .featureNotSupported,
        let function = PQresultErrorField(result, Int32(UInt8(ascii: "R")))
    else { return false }
    return String(cString: function) == "RevalidateCachedQuery"
}

/// Lends the strings as a C array that ends with NULL.
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
        // It has one element at least, and therefore an address.
        return pointers.withUnsafeBufferPointer { body($0.baseAddress!) }
    }
}

extension Duration {
    /// Whole milliseconds, at most 2^31 - 1, which is the server's longest.
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        guard seconds < Int64(Int32.max) / 1000 else { return Int64(Int32.max) }
        return max(0, seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    }
}
