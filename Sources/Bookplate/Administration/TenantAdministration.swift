import Postgres

/// An app that shares the server, as an operator sets it up.
package struct TenantRecord: Sendable, Equatable {
    package var id: UUID
    /// Lower-case letters, digits and hyphens; unique.
    package var slug: String
    package var name: String
    /// Empty: the issuers that the server is configured with.
    package var issuers: [String]
    /// Bundle and service ids that identity tokens are made for.
    package var audiences: [String]
    package var amazonTag: String?
    package var bookshopID: String?

    package static func all(_ connection: AdminConnection) throws(PostgresError) -> [TenantRecord] {
        let rows = try connection.query(
            """
            SELECT id, slug, name, issuers, audiences, amazon_tag, bookshop_id \
            FROM tenants ORDER BY slug
            """)
        return (0..<rows.count).compactMap { row in
            guard let id = rows.uuid(row, 0), let slug = rows.text(row, 1),
                let name = rows.text(row, 2), let issuers = rows.texts(row, 3),
                let audiences = rows.texts(row, 4)
            else { return nil }
            return TenantRecord(
                id: id, slug: slug, name: name, issuers: issuers, audiences: audiences,
                amazonTag: rows.text(row, 5), bookshopID: rows.text(row, 6))
        }
    }

    /// Adds a tenant.
    ///
    /// - Throws: `.refused` with a sentence: the slug is taken or ill-formed, an audience is another tenant's.
    package static func add(
        slug: String, name: String, issuers: [String], audiences: [String], amazonTag: String?,
        bookshopID: String?, _ connection: AdminConnection
    ) throws(AdministrationError) -> TenantRecord {
        try administering { () throws(PostgresError) in
            // An audience chooses the tenant at sign-in, so two tenants cannot share one.
            var shared = Parameters()
            shared.append(texts: audiences)
            let taken = try connection.query(
                "SELECT slug FROM tenants WHERE audiences && $1 LIMIT 1", shared)
            if let other = taken.text(0, 0) {
                return .failure(.refused("an audience belongs to the tenant \(other) already"))
            }
            var parameters = Parameters()
            parameters.append(text: slug)
            parameters.append(text: name)
            parameters.append(texts: issuers)
            parameters.append(texts: audiences)
            parameters.append(text: amazonTag)
            parameters.append(text: bookshopID)
            let rows = try connection.query(
                """
                INSERT INTO tenants (slug, name, issuers, audiences, amazon_tag, bookshop_id) \
                VALUES ($1, $2, $3, $4, $5, $6) RETURNING id
                """, parameters)
            guard let id = rows.uuid(0, 0) else {
                throw .unexpectedResult("the new tenant's id")
            }
            return .success(
                TenantRecord(
                    id: id, slug: slug, name: name, issuers: issuers, audiences: audiences,
                    amazonTag: amazonTag, bookshopID: bookshopID))
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
