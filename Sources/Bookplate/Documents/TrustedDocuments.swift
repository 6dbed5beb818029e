import Identity
import Postgres

/// The table of trusted documents, as one event loop reads it.
///
/// What was found is kept for a minute: so long may a pruned document still run. What was not found is asked for again,
/// for it may have been published meanwhile.
final class TrustedDocuments {
    private static let secondsMax: Int64 = 60
    private static let countMax = 2_000
    private static let idBytesMax = 200

    private static let body = Statement(
        "SELECT body FROM documents WHERE id = $1 OR sha256 = $1 LIMIT 1")

    private let database: ConnectionPool
    private var found: [String: (text: [UInt8], until: Int64)] = [:]

    init(_ database: ConnectionPool) { self.database = database }

    /// The document with that id, or with that hash (in lower-case hexadecimal digits).
    func text(_ idOrHash: String) async throws(PostgresError) -> [UInt8]? {
        guard idOrHash.utf8.count <= Self.idBytesMax, !idOrHash.utf8.contains(0) else { return nil }
        let now = unixSecondsNow()
        if let known = found[idOrHash], known.until > now { return known.text }
        var parameters = Parameters()
        parameters.append(text: idOrHash)
        let rows = try await database.run(.one(Self.body, parameters, isReadOnly: true))[0]
        guard let body = rows.text(0, 0) else { return nil }
        if found.count >= Self.countMax { found.removeAll() }
        let text = Array(body.utf8)
        found[idOrHash] = (text, now + Self.secondsMax)
        return text
    }
}
