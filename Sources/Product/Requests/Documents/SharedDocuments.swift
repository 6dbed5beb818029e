import Postgres

/// The documents that clients have registered at any server, in the database.
///
/// A server reads it if it knows neither a registered nor a trusted document with a hash. The table has the same limits as the
/// memory of a server (`PersistedQueries`).
final class SharedDocuments: Sendable {
    private let database: ConnectionPool

    init(_ database: ConnectionPool) { self.database = database }

    /// Returns the document with a hash in lower-case hexadecimal digits.
    func text(_ hash: String) async throws(PostgresError) -> [UInt8]? {
        var parameters = Parameters()
        parameters.append(text: hash)
        let rows = try await database.run(.one(Self.body, parameters, isReadOnly: true))
        return rows[0].text(0, 0).map { Array($0.utf8) }
    }

    /// Adds a document, without waiting. If this fails, the clients of other servers register it there.
    func add(_ text: [UInt8], hash: String) {
        var parameters = Parameters()
        parameters.append(text: hash)
        text.withUnsafeBytes { parameters.append(utf8: $0) }
        parameters.append(int64: Int64(PersistedQueries.countMax))
        parameters.append(int64: Int64(PersistedQueries.bytesMax))
        var pipeline = Pipeline(timeout: .seconds(2))
        pipeline.commitAsynchronously()
        pipeline.append(Self.insert, parameters)
        Task(executorPreference: database.executor) { [database, pipeline] in
            _ = try? await database.run(pipeline)
        }
    }

    private static let insert = Statement("SELECT add_persisted_query($1, $2, $3, $4)")
    private static let body = Statement("SELECT persisted_query($1)")
}
