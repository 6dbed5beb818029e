import Postgres

/// An app that shares the server, as an operator sets it up.
package struct TenantRecord: Sendable, Equatable {
    package var id: UUID
    /// Lower-case letters, digits and hyphens; unique.
    package var slug: String
    package var name: String
    /// Empty: the issuers that the server is configured with, and the providers'.
    package var issuers: [String]
    /// Bundle and service ids that identity tokens are made for.
    package var audiences: [String]
    package var amazonTag: String?
    package var bookshopID: String?
    /// Of all its users together; nil is no limit.
    package var requestsPerMinuteMax: Int32?
    package var providers: [Provider]

    /// An OpenID provider beside the configured ones.
    package struct Provider: Sendable, Equatable {
        package var issuer: String
        /// Where its keys are.
        package var jwksURL: String

        package init(issuer: String, jwksURL: String) {
            self.issuer = issuer
            self.jwksURL = jwksURL
        }
    }

    package static func all(_ connection: AdminConnection) throws(PostgresError) -> [TenantRecord] {
        try read(nil, connection)
    }

    private static func read(
        _ slug: String?, _ connection: AdminConnection
    ) throws(PostgresError) -> [TenantRecord] {
        var which = Parameters()
        which.append(text: slug)
        let rows = try connection.query(
            """
            SELECT t.id, t.slug, t.name, t.issuers, t.audiences, t.amazon_tag, t.bookshop_id, \
            t.requests_per_minute, \
            array(SELECT p.issuer FROM identity_providers p WHERE p.tenant_id = t.id ORDER BY p.issuer), \
            array(SELECT p.jwks_url FROM identity_providers p WHERE p.tenant_id = t.id ORDER BY p.issuer) \
            FROM tenants t WHERE $1 IS NULL OR t.slug = $1 ORDER BY t.slug
            """, which)
        return (0..<rows.count).compactMap { row in
            guard let id = rows.uuid(row, 0), let slug = rows.text(row, 1),
                let name = rows.text(row, 2), let issuers = rows.texts(row, 3),
                let audiences = rows.texts(row, 4), let names = rows.texts(row, 8),
                let urls = rows.texts(row, 9)
            else { return nil }
            return TenantRecord(
                id: id, slug: slug, name: name, issuers: issuers, audiences: audiences,
                amazonTag: rows.text(row, 5), bookshopID: rows.text(row, 6),
                requestsPerMinuteMax: rows.int32(row, 7),
                providers: zip(names, urls).map { Provider(issuer: $0, jwksURL: $1) })
        }
    }

    /// The tenant of that slug.
    ///
    /// - Throws: `.refused` where there is none.
    package static func find(
        _ slug: String, _ connection: AdminConnection
    ) throws(AdministrationError) -> TenantRecord {
        try administering { () throws(PostgresError) in
            guard let tenant = try read(slug, connection).first else {
                return .failure(.refused("there is no tenant \(slug)"))
            }
            return .success(tenant)
        }
    }

    /// Adds a tenant.
    ///
    /// - Throws: `.refused` with a sentence: the slug is taken or ill-formed, an audience is another tenant's.
    package static func add(
        slug: String, name: String, issuers: [String], audiences: [String], amazonTag: String?,
        bookshopID: String?, requestsPerMinuteMax: Int32? = nil, providers: [Provider] = [],
        _ connection: AdminConnection
    ) throws(AdministrationError) -> TenantRecord {
        try administering { () throws(PostgresError) in
            if let sentence = try takenAudience(audiences, except: slug, connection) {
                return .failure(.refused(sentence))
            }
            var parameters = Parameters()
            parameters.append(text: slug)
            parameters.append(text: name)
            parameters.append(texts: issuers)
            parameters.append(texts: audiences)
            parameters.append(text: amazonTag)
            parameters.append(text: bookshopID)
            parameters.append(int32: requestsPerMinuteMax)
            let rows = try connection.query(
                """
                INSERT INTO tenants \
                (slug, name, issuers, audiences, amazon_tag, bookshop_id, requests_per_minute) \
                VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id
                """, parameters)
            guard let id = rows.uuid(0, 0) else {
                throw .unexpectedResult("the new tenant's id")
            }
            let tenant = TenantRecord(
                id: id, slug: slug, name: name, issuers: issuers, audiences: audiences,
                amazonTag: amazonTag, bookshopID: bookshopID,
                requestsPerMinuteMax: requestsPerMinuteMax, providers: providers)
            try tenant.writeProviders(connection)
            return .success(tenant)
        }
    }

    /// Writes what was changed in this value since it was read; the id tells which tenant, and its slug stays.
    ///
    /// - Throws: `.refused` with a sentence.
    package func update(_ connection: AdminConnection) throws(AdministrationError) {
        try administering { () throws(PostgresError) -> Result<Void, AdministrationError> in
            if let sentence = try Self.takenAudience(audiences, except: slug, connection) {
                return .failure(.refused(sentence))
            }
            var parameters = Parameters.of(id)
            parameters.append(text: name)
            parameters.append(texts: issuers)
            parameters.append(texts: audiences)
            parameters.append(text: amazonTag)
            parameters.append(text: bookshopID)
            parameters.append(int32: requestsPerMinuteMax)
            try connection.query(
                """
                UPDATE tenants SET name = $2, issuers = $3, audiences = $4, amazon_tag = $5, \
                bookshop_id = $6, requests_per_minute = $7 WHERE id = $1
                """, parameters)
            try connection.query(
                "DELETE FROM identity_providers WHERE tenant_id = $1", .of(id))
            try writeProviders(connection)
            return .success(())
        }
    }

    /// Removes a tenant that has no accounts any more, which `closeTenant` and `AccountRecord.delete` see to.
    package func remove(_ connection: AdminConnection) throws(AdministrationError) {
        try administering { () throws(PostgresError) -> Result<Void, AdministrationError> in
            try connection.query("DELETE FROM tenants WHERE id = $1", .of(id))
            return .success(())
        }
    }

    /// From now on nobody signs in: no identity token is for this tenant.
    package func close(_ connection: AdminConnection) throws(AdministrationError) {
        try administering { () throws(PostgresError) -> Result<Void, AdministrationError> in
            try connection.query("UPDATE tenants SET audiences = '{}' WHERE id = $1", .of(id))
            return .success(())
        }
    }

    /// The ids of its users.
    package func accounts(_ connection: AdminConnection) throws(AdministrationError) -> [UUID] {
        try administering { () throws(PostgresError) in
            let rows = try connection.query(
                "SELECT id FROM users WHERE tenant_id = $1 ORDER BY id", .of(id))
            return .success((0..<rows.count).compactMap { rows.uuid($0, 0) })
        }
    }

    /// An audience chooses the tenant at sign-in, so two tenants cannot share one.
    private static func takenAudience(
        _ audiences: [String], except slug: String, _ connection: AdminConnection
    ) throws(PostgresError) -> String? {
        // Two operators at once: the second waits here.
        try connection.query("SELECT pg_advisory_xact_lock(hashtext('tenant audiences'))")
        var parameters = Parameters()
        parameters.append(texts: audiences)
        parameters.append(text: slug)
        let taken = try connection.query(
            "SELECT slug FROM tenants WHERE audiences && $1 AND slug <> $2 LIMIT 1", parameters)
        return taken.text(0, 0).map { "an audience belongs to the tenant \($0) already" }
    }

    private func writeProviders(_ connection: AdminConnection) throws(PostgresError) {
        for provider in providers {
            var parameters = Parameters.of(id)
            parameters.append(text: provider.issuer)
            parameters.append(text: provider.jwksURL)
            try connection.query(
                "INSERT INTO identity_providers (tenant_id, issuer, jwks_url) VALUES ($1, $2, $3)",
                parameters)
        }
    }
}

/// Why an operator's command was not carried out.
package enum AdministrationError: Error, Sendable {
    /// A sentence that says what is wrong with the input.
    case refused(String)
    case database(PostgresError)

    /// Constraints that an operator's input can reach.
    fileprivate static let constraints = [
        "tenants_slug_key": "there is a tenant with this slug already",
        "tenants_slug_check":
            "a slug has 1 to 63 lower-case letters, digits and hyphens, and starts with no hyphen",
        "tenants_name_check": "a tenant needs a name",
        "tenants_amazon_tag_check": "an Amazon tag has 1 to 64 letters, digits and hyphens",
        "tenants_bookshop_id_check": "a Bookshop.org id is a number of at most 10 digits",
        "tenants_requests_per_minute_check": "a rate is a whole number from 1",
        "identity_providers_pkey": "a provider was given twice",
        "identity_providers_issuer_check": "an issuer is an address that starts with https://",
        "identity_providers_jwks_url_check":
            "where a provider's keys are is an address that starts with https://",
        "users_tenant_id_fkey": "the tenant has accounts: somebody signed in meanwhile; try again",
    ]

    fileprivate init(_ error: PostgresError) {
        if case .server(let server) = error,
            let sentence = server.constraint.flatMap({ Self.constraints[$0] })
        {
            self = .refused(sentence)
        } else {
            self = .database(error)
        }
    }
}

/// Runs an administrative step; constraints that it meets are told as sentences.
func administering<Value>(
    _ work: () throws(PostgresError) -> Result<Value, AdministrationError>
) throws(AdministrationError) -> Value {
    let result: Result<Value, AdministrationError>
    do throws(PostgresError) {
        result = try work()
    } catch {
        throw AdministrationError(error)
    }
    return try result.get()
}
