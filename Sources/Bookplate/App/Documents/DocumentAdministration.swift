import Postgres

/// A trusted document as an operator sees it.
package struct DocumentRecord: Sendable, Equatable {
    package let id: String
    package let sha256: String
    package let name: String?
    package let kind: String?
    package let bytesCount: Int
    /// RFC 3339, as all instants here.
    package let createdAt: String
    package let syncedAt: String

    package struct Synced: Sendable, Equatable {
        package let created: Int
        package let updated: Int
        package let unchanged: Int
    }

    /// Brings the table up to date with a manifest; documents of other manifests stay.
    package static func sync(
        _ manifest: DocumentManifest, _ connection: AdminConnection
    ) throws(PostgresError) -> Synced {
        var (created, updated) = (0, 0)
        for entry in manifest.entries {
            var parameters = Parameters()
            parameters.append(text: entry.id)
            parameters.append(text: entry.sha256)
            parameters.append(text: entry.name)
            parameters.append(text: entry.kind?.rawValue)
            parameters.append(text: entry.body)
            // What a row was before is gone behind its update, so it is read beside it.
            let rows = try connection.query(
                """
                WITH before AS (SELECT sha256 FROM documents WHERE id = $1), \
                saved AS (INSERT INTO documents (id, sha256, name, kind, body) VALUES ($1, $2, $3, $4, $5) \
                ON CONFLICT (id) DO UPDATE SET sha256 = $2, name = $3, kind = $4, body = $5, \
                synced_at = now() RETURNING 1) \
                SELECT (SELECT sha256 FROM before) FROM saved
                """, parameters)
            switch rows.text(0, 0) {
            case nil: created += 1
            case entry.sha256: break
            case _?: updated += 1
            }
        }
        return Synced(
            created: created, updated: updated,
            unchanged: manifest.entries.count - created - updated)
    }

    /// All documents, by name.
    package static func all(
        _ connection: AdminConnection
    ) throws(PostgresError) -> [DocumentRecord] {
        let rows = try connection.query(
            """
            SELECT id, sha256, name, kind, octet_length(body), created_at, synced_at FROM documents \
            ORDER BY name NULLS LAST, id
            """)
        return (0..<rows.count).compactMap { row in
            guard let id = rows.text(row, 0), let sha256 = rows.text(row, 1),
                let bytesCount = rows.int32(row, 4), let createdAt = rows.timestamptz(row, 5),
                let syncedAt = rows.timestamptz(row, 6)
            else { return nil }
            return DocumentRecord(
                id: id, sha256: sha256, name: rows.text(row, 2), kind: rows.text(row, 3),
                bytesCount: Int(bytesCount), createdAt: Instant(microseconds: createdAt).text,
                syncedAt: Instant(microseconds: syncedAt).text)
        }
    }

    /// Deletes those that no manifest has had for so long; 0 days are all.
    ///
    /// - Returns: their ids.
    package static func prune(
        olderThanDays days: Int32, _ connection: AdminConnection
    ) throws(PostgresError) -> [String] {
        var parameters = Parameters()
        parameters.append(int32: days)
        let rows = try connection.query(
            """
            DELETE FROM documents WHERE synced_at <= now() - $1 * interval '1 day' RETURNING id
            """, parameters)
        return (0..<rows.count).compactMap { rows.text($0, 0) }.sorted()
    }
}
