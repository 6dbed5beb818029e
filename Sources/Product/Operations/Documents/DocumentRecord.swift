import Postgres
import Requests

/// A trusted document as the admin CLI shows it.
package struct DocumentRecord: Sendable, Equatable {
    package let id: String
    package let sha256: String
    package let name: String?
    package let kind: String?
    package let bytesCount: Int
    /// RFC 3339.
    package let createdAt: String
    /// The time of the last `sync` of a manifest with the document; RFC 3339.
    package let syncedAt: String

    /// The number of documents of a manifest by what `sync` did with them.
    package struct Synced: Sendable, Equatable {
        package let created: Int
        package let updated: Int
        package let unchanged: Int
    }

    /// Creates or updates the documents of a manifest. Documents that it does not contain are left unchanged.
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
            // `decode` leaves out the NULL of a new document.
            let oldHashes = try connection.query(upsert, parameters).decode(String.self)
            switch oldHashes.first {
            case nil: created += 1
            case entry.sha256: break
            case _?: updated += 1
            }
        }
        return Synced(
            created: created, updated: updated,
            unchanged: manifest.entries.count - created - updated)
    }

    /// Returns the hash that the document had before; NULL if it is new.
    private static let upsert = """
        -- RETURNING has no access to the old row, so it is read from the statement's snapshot.
        WITH old_document AS (
            SELECT sha256
            FROM documents
            WHERE id = $1
        ),
        saved AS (
            INSERT INTO documents (id, sha256, name, kind, body)
            VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (id) DO UPDATE
            SET sha256 = $2, name = $3, kind = $4, body = $5, synced_at = excluded.synced_at
            RETURNING 1
        )
        SELECT (SELECT sha256 FROM old_document)
        FROM saved
        """

    /// Returns all documents by name.
    package static func all(
        _ connection: AdminConnection
    ) throws(PostgresError) -> [DocumentRecord] {
        try connection.query(
            """
            SELECT id, sha256, name, kind, octet_length(body), created_at, synced_at
            FROM documents
            ORDER BY name NULLS LAST, id
            """
        ).decode()
    }

    /// The IDs of the documents that were not synchronized for a long time, by what `prune` did with them.
    package struct Pruned: Sendable, Equatable {
        package var deleted: [String] = []
        /// Documents to which personal access tokens are bound.
        package var kept: [String] = []
    }

    /// Deletes the documents that were not synchronized for the given time; 0 days deletes all. Keeps those to which a personal access
    /// token is bound that has not expired, because the token could run nothing without them.
    package static func prune(
        olderThanDays days: Int32, _ connection: AdminConnection
    ) throws(PostgresError) -> Pruned {
        var parameters = Parameters()
        parameters.append(int32: days)
        let documents = try connection.query(
            """
            WITH bound AS (
                SELECT DISTINCT unnest(t.documents) AS sha256
                FROM access_tokens t
                WHERE t.documents IS NOT NULL AND (t.expires_at IS NULL OR t.expires_at > now())
            ),
            old AS (
                SELECT d.id, b.sha256 IS NOT NULL AS is_bound
                FROM documents d
                LEFT JOIN bound b ON b.sha256 = d.sha256
                WHERE d.synced_at <= now() - $1 * interval '1 day'
            ),
            deleted AS (
                DELETE FROM documents d
                USING old o
                WHERE d.id = o.id AND NOT o.is_bound
            )
            SELECT id, is_bound
            FROM old
            ORDER BY id
            """, parameters
        ).decode(Old.self)
        return Pruned(
            deleted: documents.filter { !$0.isBound }.map(\.id),
            kept: documents.filter(\.isBound).map(\.id))
    }

    /// A document that was not synchronized for a long time.
    private struct Old: RowDecodable {
        let id: String
        let isBound: Bool

        init?(_ row: inout RowReader) {
            guard let id = row.text(), let isBound = row.bool() else { return nil }
            self.id = id
            self.isBound = isBound
        }
    }
}

extension DocumentRecord: RowDecodable {
    package init?(_ row: inout RowReader) {
        guard let id = row.text(), let sha256 = row.text() else { return nil }
        self.id = id
        self.sha256 = sha256
        name = row.text()
        kind = row.text()
        guard let bytesCount = row.int32(), let createdAt = row.timestamptz(),
            let syncedAt = row.timestamptz()
        else { return nil }
        self.bytesCount = Int(bytesCount)
        self.createdAt = Instant(microseconds: createdAt).text
        self.syncedAt = Instant(microseconds: syncedAt).text
    }
}
