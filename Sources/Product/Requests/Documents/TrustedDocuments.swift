import Identity
import Postgres

/// Reads the table of trusted documents. Belongs to one event loop.
///
/// A document that was found is cached for a minute, so a pruned one can run for that long. A miss is not cached, because
/// the document may be published at any time.
final class TrustedDocuments {
    /// How long a document is cached.
    private static let cachedSeconds: Int64 = 60
    /// The maximum number of cached documents. When it is reached, all are removed.
    private static let cachedMax = 2_000
    private static let idBytesMax = 200

    private static let body = TypedStatement<String>(
        """
        SELECT body
        FROM documents
        WHERE id = $1 OR id = $2 OR sha256 = $2
        ORDER BY id <> $1
        LIMIT 1
        """)

    private let database: ConnectionPool
    private var found: [DocumentName: (text: [UInt8], until: Int64)] = [:]

    init(_ database: ConnectionPool) { self.database = database }

    /// Returns the document whose ID is the identifier that the client has sent, otherwise the document with that hash.
    func text(_ name: DocumentName) async throws(PostgresError) -> [UInt8]? {
        guard name.text.utf8.count <= Self.idBytesMax, !name.text.utf8.contains(0) else {
            return nil
        }
        let now = unixSecondsNow()
        if let known = found[name], known.until > now { return known.text }
        var parameters = Parameters()
        parameters.append(text: name.text)
        parameters.append(text: name.hash ?? name.text)
        var pipeline = Pipeline(isReadOnly: true)
        let bodies = pipeline.append(Self.body, parameters)
        guard let body = PipelineResults(try await database.run(pipeline))[bodies].first else {
            return nil
        }
        if found.count >= Self.cachedMax { found.removeAll() }
        let text = Array(body.utf8)
        found[name] = (text, now + Self.cachedSeconds)
        return text
    }
}
