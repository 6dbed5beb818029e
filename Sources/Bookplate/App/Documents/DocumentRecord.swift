import Postgres

/// A trusted document as the admin CLI shows it.
package struct DocumentRecord: Sendable, Equatable {
    package let id: String
    package let sha256: String
    package let name: String?
    package let kind: String?
    package let bytesCount: Int
    /// RFC 3339.
    package let createdAt: String
    /// The last time when a manifest contained the document; RFC 3339.
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
            SET sha256 = $2, name = $3, kind = $4, body = $5, synced_at = now()
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

    /// Deletes the documents that no manifest has contained for the given time; 0 days deletes all.
    ///
    /// - Returns: The IDs of the deleted documents.
    package static func prune(
        olderThanDays days: Int32, _ connection: AdminConnection
    ) throws(PostgresError) -> [String] {
        var parameters = Parameters()
        parameters.append(int32: days)
        return try connection.query(
            """
            DELETE FROM documents
            WHERE synced_at <= now() - $1 * interval '1 day'
            RETURNING id
            """, parameters
        ).decode(String.self).sorted()
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
