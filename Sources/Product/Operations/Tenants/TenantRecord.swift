import Basics
import Bookplate
import Postgres

/// A tenant as the admin CLI shows and changes it.
package struct TenantRecord: Sendable, Equatable {
    package var id: UUID
    /// Lower-case letters, digits, and hyphens; unique.
    package var slug: String
    package var name: String
    /// The accepted issuers of identity tokens. If empty, the configured issuers and those of `providers` are accepted.
    package var issuers: [String]
    /// The bundle and service IDs that identity tokens are issued for.
    package var audiences: [String]
    package var amazonTag: String?
    package var bookshopID: String?
    /// The limit for all users of the tenant together; nil for no limit.
    package var requestsPerMinuteMax: Int32?
    /// The maximum bytes of all covers of the tenant; nil for no limit.
    package var storageBytesMax: Int64?
    /// The maximum bytes of the covers of each user; nil for no limit.
    package var userStorageBytesMax: Int64?
    /// The step of ratings.
    package var ratingStep: RatingStep
    /// Whether its apps may sign in guests.
    package var guests: Bool
    /// The maximum number of books of each guest.
    package var guestBooksMax: Int32
    /// Whether clients of the Model Context Protocol may call the trusted documents.
    package var mcp: Bool
    /// Whether apps of other developers can ask for access by OAuth.
    package var oauth: Bool
    /// Whether such apps can register themselves.
    package var oauthRegistration: Bool
    /// Whether readers may share by links.
    package var sharing: Bool
    package var providers: [IdentityProvider]

    /// The default of `userStorageBytesMax`: 2 GiB.
    package static let userStorageBytesDefault: Int64 = 2 << 30

    /// The default of `guestBooksMax`.
    package static let guestBooksDefault: Int32 = 200

    /// Returns all tenants by slug.
    package static func all(_ connection: AdminConnection) throws(PostgresError) -> [TenantRecord] {
        try read(nil, connection)
    }

    /// Returns the tenant with the slug.
    ///
    /// - Throws: `.refused` if it does not exist.
    package static func find(
        _ slug: String, _ connection: AdminConnection
    ) throws(AdministrationError) -> TenantRecord {
        let tenants = try mappingError(AdministrationError.init) { () throws(PostgresError) in
            try read(slug, connection)
        }
        guard let tenant = tenants.first else {
            throw .refused("there is no tenant \(slug): see bookplate-admin tenant list")
        }
        return tenant
    }

    private static func read(
        _ slug: String?, _ connection: AdminConnection
    ) throws(PostgresError) -> [TenantRecord] {
        var parameters = Parameters()
        parameters.append(text: slug)
        return try connection.query(
            """
            SELECT
                t.id, t.slug, t.name, t.issuers, t.audiences, t.amazon_tag, t.bookshop_id,
                t.requests_per_minute, t.storage_bytes_max, t.user_storage_bytes_max, t.rating_step::int,
                t.guests, t.guest_books_max, t.mcp, t.oauth, t.oauth_registration, t.sharing,
                \(IdentityProvider.columns)
            FROM tenants t
            WHERE $1 IS NULL OR t.slug = $1
            ORDER BY t.slug
            """, parameters
        ).decode()
    }
}

extension TenantRecord: RowDecodable {
    package init?(_ row: inout RowReader) {
        guard let id = row.uuid(), let slug = row.text(), let name = row.text(),
            let issuers = row.texts(), let audiences = row.texts()
        else { return nil }
        self.id = id
        self.slug = slug
        self.name = name
        self.issuers = issuers
        self.audiences = audiences
        amazonTag = row.text()
        bookshopID = row.text()
        requestsPerMinuteMax = row.int32()
        storageBytesMax = row.int64()
        userStorageBytesMax = row.int64()
        ratingStep = row.int32().flatMap { RatingStep(quarterStars: $0) } ?? .whole
        guests = row.bool() == true
        guestBooksMax = row.int32() ?? Self.guestBooksDefault
        mcp = row.bool() == true
        oauth = row.bool() == true
        oauthRegistration = row.bool() == true
        sharing = row.bool() == true
        guard let providers = IdentityProvider.list(&row) else { return nil }
        self.providers = providers
    }
}
