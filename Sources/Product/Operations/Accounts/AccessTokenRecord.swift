import Basics
import Postgres
import Requests

/// A personal access token as the admin CLI shows it. It contains no secret.
package struct AccessTokenRecord: RowDecodable, Equatable, Sendable {
    package let id: UUID
    package let userID: UUID
    /// The slug of the tenant.
    package let tenant: String
    package let name: String
    /// Values of the enum `AccessScope`.
    package let scopes: [String]
    /// The hashes of the trusted documents to which the token is bound; nil if it is not bound.
    package let documents: [String]?
    package let lastCharacters: String
    /// RFC 3339, like the other times.
    package let createdAt: String
    /// nil for a token that does not expire.
    package let expiresAt: String?
    /// nil for a token that was never used.
    package let lastUsedAt: String?

    package init?(_ row: inout RowReader) {
        guard let id = row.uuid(), let userID = row.uuid(), let tenant = row.text(),
            let name = row.text(), let scopes = row.texts()
        else { return nil }
        self.id = id
        self.userID = userID
        self.tenant = tenant
        self.name = name
        self.scopes = scopes
        documents = row.texts()
        guard let lastCharacters = row.text(), let createdAt = row.timestamptz() else {
            return nil
        }
        self.lastCharacters = lastCharacters
        self.createdAt = Instant(microseconds: createdAt).text
        expiresAt = row.timestamptz().map { Instant(microseconds: $0).text }
        lastUsedAt = row.timestamptz().map { Instant(microseconds: $0).text }
    }

    /// Returns the personal tokens of an account, or of all accounts of a tenant, the newest first. Expired tokens are included.
    ///
    /// - Parameters:
    ///   - tenant: The slug of a tenant; nil for all tenants.
    ///   - account: An account; nil for all accounts.
    package static func list(
        tenant: String?, account: UUID?, _ connection: AdminConnection
    ) throws(PostgresError) -> [AccessTokenRecord] {
        var parameters = Parameters()
        parameters.append(text: tenant)
        parameters.append(uuid: account)
        return try connection.query(
            """
            SELECT
                t.id, t.user_id, n.slug, t.name, t.scopes::text[], t.documents, t.last_characters, t.created_at,
                t.expires_at, t.last_used_at
            FROM access_tokens t
            JOIN users u ON u.id = t.user_id
            JOIN tenants n ON n.id = u.tenant_id
            WHERE ($1::text IS NULL OR n.slug = $1)
                AND ($2::uuid IS NULL OR t.user_id = $2)
                AND t.grant_id IS NULL
            ORDER BY t.created_at DESC, t.user_id, t.id
            """, parameters
        ).decode()
    }

    /// Revokes tokens, in the caller's transaction. Servers close their streams.
    ///
    /// - Parameter account: The owner of the tokens; nil for any.
    /// - Returns: The IDs of the revoked tokens.
    /// - Throws: `.refused` if several accounts have a token with one of the IDs, which apps choose.
    package static func revoke(
        _ ids: [UUID], of account: UUID?, _ connection: AdminConnection
    ) throws(AdministrationError) -> [UUID] {
        let revoked: [UUID] = try mappingError(AdministrationError.init) {
            () throws(PostgresError) in
            var parameters = Parameters()
            parameters.append(uuids: ids)
            parameters.append(uuid: account)
            return try connection.query(
                """
                DELETE FROM access_tokens t
                WHERE t.id = ANY ($1) AND ($2::uuid IS NULL OR t.user_id = $2) AND t.grant_id IS NULL
                RETURNING t.id
                """, parameters
            ).decode()
        }
        guard Set(revoked).count == revoked.count else {
            throw .refused(
                "several accounts have a token with one of these IDs: name the account with --user")
        }
        return revoked
    }
}
