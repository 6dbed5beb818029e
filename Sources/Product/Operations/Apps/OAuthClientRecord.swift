import Basics
import Bookplate
import Postgres
import Requests

/// An app of another developer as the admin CLI shows it.
package struct OAuthClientRecord: Sendable, Equatable {
    package let id: UUID
    package let name: String
    package let redirectURIs: [String]
    /// The names of the scopes in OAuth.
    package let scopes: [String]
    package let allowsDevice: Bool
    /// Whether the app has a secret.
    package let isConfidential: Bool
    package let isSelfRegistered: Bool
    /// RFC 3339.
    package let createdAt: String
    /// The number of readers who have given access.
    package let readers: Int

    /// An app to add.
    package struct New: Sendable {
        package var name: String
        package var redirectURIs: [String]
        /// The names of the scopes in OAuth.
        package var scopes: [String]
        package var allowsDevice: Bool
        package var isConfidential: Bool

        package init(
            name: String, redirectURIs: [String], scopes: [String], allowsDevice: Bool,
            isConfidential: Bool
        ) {
            self.name = name
            self.redirectURIs = redirectURIs
            self.scopes = scopes
            self.allowsDevice = allowsDevice
            self.isConfidential = isConfidential
        }

        fileprivate func parsedScopes() throws(AdministrationError) -> [AccessScope] {
            for name in scopes where AccessScope(oauthName: name) == nil {
                let all = AccessScope.allCases.map(\.oauthName).joined(separator: ", ")
                throw .refused("there is no scope \(name): the scopes are \(all)")
            }
            return AccessScope.allCases.filter { scopes.contains($0.oauthName) }
        }

        fileprivate func check() throws(AdministrationError) {
            guard OAuthClient.isPresentable(name: name) else {
                throw .refused(
                    "a name has 1 to \(OAuthClient.nameCharactersMax) printable characters")
            }
            for uri in redirectURIs where RedirectURI(uri) == nil {
                throw .refused(
                    "\(uri) cannot be a redirect URI: use https, http with 127.0.0.1 or [::1], or a private scheme with a period, and no fragment"
                )
            }
            guard redirectURIs.count <= OAuthClient.redirectURIsMax else {
                throw .refused("an app has at most \(OAuthClient.redirectURIsMax) redirect URIs")
            }
            guard !redirectURIs.isEmpty || allowsDevice else {
                throw .refused(
                    "an app needs a redirect URI (--redirect-uri), or the device grant (--device)")
            }
        }
    }

    /// Adds an app, in the caller's transaction.
    ///
    /// - Returns: The app, and its secret if it is confidential. The secret is not stored.
    /// - Throws: `.refused` if the tenant does not exist or a value is not allowed.
    package static func add(
        _ new: New, to slug: String, _ connection: AdminConnection
    ) throws(AdministrationError) -> (client: OAuthClientRecord, secret: String?) {
        try new.check()
        let scopes = try new.parsedScopes()
        let tenant = try TenantRecord.find(slug, connection)
        let secret = new.isConfidential ? OAuthSecret(.clientSecret) : nil
        let id = UUID.version7()
        var parameters = Parameters.of(id, tenant.id)
        parameters.append(text: new.name)
        parameters.append(texts: new.redirectURIs)
        parameters.append(texts: scopes.map(\.rawValue))
        parameters.append(bool: new.allowsDevice)
        parameters.append(bytea: secret?.hash)
        _ = try mappingError(AdministrationError.init) { () throws(PostgresError) in
            try connection.query(
                """
                INSERT INTO oauth_clients (id, tenant_id, name, redirect_uris, scopes, allows_device, secret_hash)
                VALUES ($1, $2, $3, $4, $5::text[]::access_scope[], $6, $7)
                """, parameters)
        }
        return (try find(id, of: slug, connection), secret?.text)
    }

    /// Returns the apps of a tenant in the order in which they were added.
    package static func list(
        of slug: String, _ connection: AdminConnection
    ) throws(AdministrationError) -> [OAuthClientRecord] {
        let tenant = try TenantRecord.find(slug, connection)
        return try read(tenant, id: nil, connection)
    }

    /// - Throws: `.refused` if there is no such app.
    package static func find(
        _ id: UUID, of slug: String, _ connection: AdminConnection
    ) throws(AdministrationError) -> OAuthClientRecord {
        let tenant = try TenantRecord.find(slug, connection)
        guard let client = try read(tenant, id: id, connection).first else {
            throw .refused(
                "\(slug) has no app \(id): see bookplate-admin oauth client list \(slug)")
        }
        return client
    }

    /// Removes an app, in the caller's transaction, and ends its access to all accounts.
    ///
    /// - Returns: The removed app.
    /// - Throws: `.refused` if there is no such app.
    package static func remove(
        _ id: UUID, from slug: String, _ connection: AdminConnection
    ) throws(AdministrationError) -> OAuthClientRecord {
        let client = try find(id, of: slug, connection)
        try mappingError(AdministrationError.init) { () throws(PostgresError) in
            _ = try connection.query("DELETE FROM oauth_clients WHERE id = $1", .of(id))
        }
        return client
    }

    private static func read(
        _ tenant: TenantRecord, id: UUID?, _ connection: AdminConnection
    ) throws(AdministrationError) -> [OAuthClientRecord] {
        try mappingError(AdministrationError.init) { () throws(PostgresError) in
            var parameters = Parameters.of(tenant.id)
            parameters.append(uuid: id)
            return try connection.query(
                """
                SELECT
                    c.id, c.name, c.redirect_uris, c.scopes::text[], c.allows_device, c.secret_hash IS NOT NULL,
                    c.is_self_registered, c.created_at,
                    (SELECT count(DISTINCT g.user_id) FROM oauth_grants g WHERE g.client_id = c.id)
                FROM oauth_clients c
                WHERE c.tenant_id = $1 AND ($2::uuid IS NULL OR c.id = $2)
                ORDER BY c.created_at, c.id
                """, parameters
            ).decode()
        }
    }
}

extension OAuthClientRecord: RowDecodable {
    package init?(_ row: inout RowReader) {
        guard let id = row.uuid(), let name = row.text(), let uris = row.texts(),
            let scopes = row.texts()
        else { return nil }
        self.id = id
        self.name = name
        redirectURIs = uris
        self.scopes = scopes.compactMap { AccessScope(rawValue: $0)?.oauthName }
        allowsDevice = row.bool() == true
        isConfidential = row.bool() == true
        isSelfRegistered = row.bool() == true
        guard let createdAt = row.timestamptz() else { return nil }
        self.createdAt = Instant(microseconds: createdAt).text
        readers = Int(row.int64() ?? 0)
    }
}
