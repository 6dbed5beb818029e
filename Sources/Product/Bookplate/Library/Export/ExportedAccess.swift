import GraphQL
import Postgres

/// An identity with which the reader signs in.
struct ExportedIdentity: ExportedJSONItem {
    let id: UUID
    let json: Value

    init?(_ row: inout RowReader) {
        guard let id = row.uuid() else { return nil }
        self.id = id
        json = .object([
            .init("id", .id(id)), .init("provider", .text(row.text())),
            .init("subject", .text(row.text())),
            .init("createdAt", .instant(row.timestamptz())),
        ])
    }

    static let page = TypedStatement<Self>(
        """
        SELECT i.id, \(UserIdentity.provider), split_part(i.subject, E'\\x1F', -1), i.created_at
        FROM identities i
        WHERE i.user_id = $1 AND \(PageRange.after("i.id"))
        ORDER BY i.id
        LIMIT $3
        """)
}

/// A personal access token without its secret.
struct ExportedAccessToken: ExportedJSONItem {
    let id: UUID
    let json: Value

    init?(_ row: inout RowReader) {
        guard let id = row.uuid() else { return nil }
        self.id = id
        json = .object([
            .init("id", .id(id)), .init("name", .text(row.text())),
            .init("scopes", .list((row.texts() ?? []).map { .string($0) })),
            .init("documents", row.texts().map { .list($0.map { .string($0) }) } ?? .null),
            .init("lastCharacters", .text(row.text())),
            .init("createdAt", .instant(row.timestamptz())),
            .init("expiresAt", .instant(row.timestamptz())),
            .init("lastUsedAt", .instant(row.timestamptz())),
        ])
    }

    static let page = TypedStatement<Self>(
        """
        SELECT
            id, name, scopes::text[], documents, last_characters, created_at, expires_at, last_used_at
        FROM access_tokens
        WHERE user_id = $1 AND grant_id IS NULL AND \(PageRange.after("id"))
        ORDER BY id
        LIMIT $3
        """)
}

/// The access of an app of another developer.
struct ExportedAuthorizedApp: ExportedJSONItem {
    let id: UUID
    let json: Value

    init?(_ row: inout RowReader) {
        guard let id = row.uuid() else { return nil }
        self.id = id
        json = .object([
            .init("id", .id(id)), .init("name", .text(row.text())),
            .init("scopes", .list((row.texts() ?? []).map { .string($0) })),
            .init("createdAt", .instant(row.timestamptz())),
            .init("expiresAt", .instant(row.timestamptz())),
            .init("lastUsedAt", .instant(row.timestamptz())),
        ])
    }

    static let page = TypedStatement<Self>(
        """
        SELECT g.id, c.name, g.scopes::text[], g.created_at, g.expires_at, g.last_used_at
        FROM oauth_grants g
        JOIN oauth_clients c ON c.id = g.client_id
        WHERE g.user_id = $1 AND \(PageRange.after("g.id"))
        ORDER BY g.id
        LIMIT $3
        """)
}

/// A document of an e-reader, with its last position. It is in the part of its book. Documents without a book are in the first
/// part.
struct ExportedEReaderDocument: ExportedJSONItem {
    let id: UUID
    let json: Value

    init?(_ row: inout RowReader) {
        guard let id = row.uuid() else { return nil }
        self.id = id
        json = .object([
            .init("id", .id(id)), .init("hash", .text(row.text())),
            .init("title", .text(row.text())), .init("author", .text(row.text())),
            .init("bookId", .id(row.uuid())), .init("progress", .text(row.text())),
            .init("percent", row.float8().map { .float($0) } ?? .null),
            .init("deviceName", .text(row.text())), .init("deviceId", .text(row.text())),
            .init("createdAt", .instant(row.timestamptz())),
            .init("syncedAt", .instant(row.timestamptz())),
        ])
    }

    /// `$5` is the id of the last book before the part, or NULL.
    static let page = TypedStatement<Self>(
        """
        SELECT
            id, hash, title, author, book_id, progress, 100 * fraction, device_name, device_id, created_at, synced_at
        FROM ereader_documents
        WHERE user_id = $1
            AND \(PageRange.after("id"))
            AND ($4::uuid IS NULL OR book_id IS NULL OR book_id <= $4)
            AND ($5::uuid IS NULL OR book_id > $5)
        ORDER BY id
        LIMIT $3
        """)
}

/// The last position of an e-reader in a book.
struct ExportedEReaderPosition: ExportedJSONItem {
    /// The id of the book.
    let id: UUID
    let json: Value

    init?(_ row: inout RowReader) {
        guard let id = row.uuid() else { return nil }
        self.id = id
        json = .object([
            .init("bookId", .id(id)), .init("modifiedAt", .instant(row.timestamptz())),
            .init("percent", row.float8().map { .float($0) } ?? .null),
            .init("deviceId", .text(row.text())), .init("deviceName", .text(row.text())),
            .init("title", .text(row.text())),
            .init("references", row.texts().map { .list($0.map { .string($0) }) } ?? .null),
        ])
    }

    static let page = TypedStatement<Self>(
        """
        SELECT book_id, modified_at, 100 * fraction, device_id, device_name, title, place_refs
        FROM ereader_positions
        WHERE user_id = $1
            AND \(PageRange.after("book_id"))
            AND \(PageRange.until("book_id"))
        ORDER BY book_id
        LIMIT $3
        """)
}
