import Basics
import Bookplate
import Postgres

extension TenantRecord {
    /// Adds a tenant, in the caller's transaction.
    ///
    /// - Throws: `.refused` if the slug is taken or malformed, or if an audience belongs to another tenant.
    package static func add(
        slug: String, name: String, issuers: [String], audiences: [String], amazonTag: String?,
        bookshopID: String?, requestsPerMinuteMax: Int32? = nil, storageBytesMax: Int64? = nil,
        userStorageBytesMax: Int64? = userStorageBytesDefault, ratingStep: RatingStep = .whole,
        guests: Bool = false, guestBooksMax: Int32 = guestBooksDefault, mcp: Bool = false,
        oauth: Bool = false, oauthRegistration: Bool = false, sharing: Bool = true,
        providers: [IdentityProvider] = [], _ connection: AdminConnection
    ) throws(AdministrationError) -> TenantRecord {
        try refuseAudiencesOfOthers(audiences, except: slug, connection)
        return try mappingError(AdministrationError.init) { () throws(PostgresError) in
            var parameters = Parameters()
            parameters.append(text: slug)
            parameters.append(text: name)
            parameters.append(texts: issuers)
            parameters.append(texts: audiences)
            parameters.append(text: amazonTag)
            parameters.append(text: bookshopID)
            parameters.append(int32: requestsPerMinuteMax)
            parameters.append(int64: storageBytesMax)
            parameters.append(int64: userStorageBytesMax)
            parameters.append(int32: ratingStep.quarterStars)
            parameters.append(bool: guests)
            parameters.append(int32: guestBooksMax)
            parameters.append(bool: mcp)
            parameters.append(bool: oauth)
            parameters.append(bool: oauthRegistration)
            parameters.append(bool: sharing)
            let ids = try connection.query(
                """
                INSERT INTO tenants (
                    slug, name, issuers, audiences, amazon_tag, bookshop_id, requests_per_minute,
                    storage_bytes_max, user_storage_bytes_max, rating_step, guests, guest_books_max,
                    mcp, oauth, oauth_registration, sharing
                )
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
                RETURNING id
                """, parameters
            ).decode(UUID.self)
            guard let id = ids.first else { throw .unexpectedResult("the new tenant's ID") }
            let tenant = TenantRecord(
                id: id, slug: slug, name: name, issuers: issuers, audiences: audiences,
                amazonTag: amazonTag, bookshopID: bookshopID,
                requestsPerMinuteMax: requestsPerMinuteMax, storageBytesMax: storageBytesMax,
                userStorageBytesMax: userStorageBytesMax, ratingStep: ratingStep,
                guests: guests, guestBooksMax: guestBooksMax, mcp: mcp, oauth: oauth,
                oauthRegistration: oauthRegistration, sharing: sharing, providers: providers)
            try tenant.insertProviders(connection)
            return tenant
        }
    }

    /// Stores this value in the row with its ID, in the caller's transaction. The slug cannot be changed.
    ///
    /// - Throws: `.refused` if a value is malformed, or if an audience belongs to another tenant.
    package func update(_ connection: AdminConnection) throws(AdministrationError) {
        try Self.refuseAudiencesOfOthers(audiences, except: slug, connection)
        try mappingError(AdministrationError.init) { () throws(PostgresError) in
            var parameters = Parameters.of(id)
            parameters.append(text: name)
            parameters.append(texts: issuers)
            parameters.append(texts: audiences)
            parameters.append(text: amazonTag)
            parameters.append(text: bookshopID)
            parameters.append(int32: requestsPerMinuteMax)
            parameters.append(int64: storageBytesMax)
            parameters.append(int64: userStorageBytesMax)
            parameters.append(int32: ratingStep.quarterStars)
            parameters.append(bool: guests)
            parameters.append(int32: guestBooksMax)
            parameters.append(bool: mcp)
            parameters.append(bool: oauth)
            parameters.append(bool: oauthRegistration)
            parameters.append(bool: sharing)
            try connection.query(
                """
                UPDATE tenants
                SET name = $2, issuers = $3, audiences = $4, amazon_tag = $5, bookshop_id = $6,
                    requests_per_minute = $7, storage_bytes_max = $8, user_storage_bytes_max = $9,
                    rating_step = $10, guests = $11, guest_books_max = $12, mcp = $13, oauth = $14,
                    oauth_registration = $15, sharing = $16
                WHERE id = $1
                """, parameters)
            try connection.query(
                "DELETE FROM identity_providers WHERE tenant_id = $1", .of(id))
            try insertProviders(connection)
        }
    }

    /// Removes the audiences, so that no identity token is valid for the tenant and its users cannot sign in.
    package func close(_ connection: AdminConnection) throws(AdministrationError) {
        try mappingError(AdministrationError.init) { () throws(PostgresError) in
            _ = try connection.query(
                "UPDATE tenants SET audiences = '{}' WHERE id = $1", .of(id))
        }
    }

    /// Removes the tenant. Its accounts must have been deleted with `AccountRecord.delete`.
    ///
    /// - Throws: `.refused` if it still has accounts.
    package func remove(_ connection: AdminConnection) throws(AdministrationError) {
        try mappingError(AdministrationError.init) { () throws(PostgresError) in
            _ = try connection.query("DELETE FROM tenants WHERE id = $1", .of(id))
        }
    }

    /// Returns the IDs of the tenant's users.
    package func accounts(_ connection: AdminConnection) throws(AdministrationError) -> [UUID] {
        try mappingError(AdministrationError.init) { () throws(PostgresError) in
            try connection.query("SELECT id FROM users WHERE tenant_id = $1 ORDER BY id", .of(id))
                .decode()
        }
    }

    /// Returns the number of guests of the tenant.
    package func guestCount(
        _ connection: AdminConnection
    ) throws(AdministrationError) -> Int {
        let counts = try mappingError(AdministrationError.init) { () throws(PostgresError) in
            try connection.query(
                "SELECT count(*) FROM users WHERE tenant_id = $1 AND is_guest", .of(id)
            ).decode(Int64.self)
        }
        return Int(counts.first ?? 0)
    }

    /// Audiences select the tenant at sign-in, so two tenants cannot have the same one.
    ///
    /// - Throws: `.refused` if an audience belongs to another tenant.
    private static func refuseAudiencesOfOthers(
        _ audiences: [String], except slug: String, _ connection: AdminConnection
    ) throws(AdministrationError) {
        let owners = try mappingError(AdministrationError.init) { () throws(PostgresError) in
            // Serializes concurrent changes until the end of the transaction.
            try connection.query("SELECT pg_advisory_xact_lock(hashtext('tenant audiences'))")
            var parameters = Parameters()
            parameters.append(texts: audiences)
            parameters.append(text: slug)
            return try connection.query(
                "SELECT slug FROM tenants WHERE audiences && $1 AND slug <> $2 LIMIT 1", parameters
            ).decode(String.self)
        }
        if let owner = owners.first {
            throw .refused(
                "an audience belongs to the tenant \(owner) already: remove it there first, or choose another one"
            )
        }
    }

    private func insertProviders(_ connection: AdminConnection) throws(PostgresError) {
        for provider in providers {
            var parameters = Parameters.of(id)
            parameters.append(text: provider.name)
            parameters.append(text: provider.issuer)
            parameters.append(text: provider.jwksURL)
            parameters.append(texts: provider.audiences)
            try connection.query(
                """
                INSERT INTO identity_providers (tenant_id, name, issuer, jwks_url, audiences)
                VALUES ($1, $2, $3, $4, $5)
                """, parameters)
        }
    }
}
