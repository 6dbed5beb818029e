import Bookplate
import Postgres

extension TenantRecord {
    /// Changes of a tenant's settings. Settings that are nil or empty are not changed.
    package struct Changes: Sendable {
        package var name: String?
        package var audiences: [String]
        package var issuers: [String]
        package var providers: [IdentityProvider]
        package var amazonTag: String?
        package var bookshopID: String?
        package var requestsPerMinuteMax: Int32?
        package var storageBytesMax: Int64?
        package var userStorageBytesMax: Int64?
        package var ratingStep: RatingStep?
        package var guests: Bool?
        package var guestBooksMax: Int32?
        package var mcp: Bool?
        package var oauth: Bool?
        package var oauthRegistration: Bool?
        package var sharing: Bool?
        /// Settings that are removed. They take precedence over the other changes.
        package var removed: [OptionalSetting]

        package init(
            name: String?, audiences: [String], issuers: [String], providers: [IdentityProvider],
            amazonTag: String?, bookshopID: String?, requestsPerMinuteMax: Int32?,
            storageBytesMax: Int64? = nil, userStorageBytesMax: Int64? = nil,
            ratingStep: RatingStep? = nil, guests: Bool? = nil, guestBooksMax: Int32? = nil,
            mcp: Bool? = nil, oauth: Bool? = nil, oauthRegistration: Bool? = nil,
            sharing: Bool? = nil,
            removed: [OptionalSetting]
        ) {
            self.name = name
            self.audiences = audiences
            self.issuers = issuers
            self.providers = providers
            self.amazonTag = amazonTag
            self.bookshopID = bookshopID
            self.requestsPerMinuteMax = requestsPerMinuteMax
            self.storageBytesMax = storageBytesMax
            self.userStorageBytesMax = userStorageBytesMax
            self.ratingStep = ratingStep
            self.guests = guests
            self.guestBooksMax = guestBooksMax
            self.mcp = mcp
            self.oauth = oauth
            self.oauthRegistration = oauthRegistration
            self.sharing = sharing
            self.removed = removed
        }
    }

    /// A setting that a tenant need not have. The raw value is its name in the admin CLI.
    package enum OptionalSetting: String, Sendable, CaseIterable {
        case issuer, provider, rate, storage
        case userStorage = "user-storage"
        case amazonTag = "amazon-tag"
        case bookshopID = "bookshop-id"
    }

    /// Changes the settings of a tenant, in the caller's transaction.
    ///
    /// - Returns: The changed tenant.
    /// - Throws: `.refused` if the tenant does not exist or a value is not allowed.
    package static func update(
        _ slug: String, _ changes: Changes, _ connection: AdminConnection
    ) throws(AdministrationError) -> TenantRecord {
        var tenant = try find(slug, connection)
        tenant.apply(changes)
        try tenant.update(connection)
        return tenant
    }

    private mutating func apply(_ changes: Changes) {
        name = changes.name ?? name
        if !changes.audiences.isEmpty { audiences = changes.audiences }
        if !changes.issuers.isEmpty { issuers = changes.issuers }
        // Providers with client IDs of their own have a command of their own.
        if !changes.providers.isEmpty {
            providers = providers.filter { !$0.audiences.isEmpty } + changes.providers
        }
        amazonTag = changes.amazonTag ?? amazonTag
        bookshopID = changes.bookshopID ?? bookshopID
        requestsPerMinuteMax = changes.requestsPerMinuteMax ?? requestsPerMinuteMax
        storageBytesMax = changes.storageBytesMax ?? storageBytesMax
        userStorageBytesMax = changes.userStorageBytesMax ?? userStorageBytesMax
        ratingStep = changes.ratingStep ?? ratingStep
        guests = changes.guests ?? guests
        guestBooksMax = changes.guestBooksMax ?? guestBooksMax
        mcp = changes.mcp ?? mcp
        oauth = changes.oauth ?? oauth
        oauthRegistration = changes.oauthRegistration ?? oauthRegistration
        sharing = changes.sharing ?? sharing
        for setting in changes.removed {
            switch setting {
            case .issuer: issuers = []
            case .provider: providers.removeAll { $0.audiences.isEmpty }
            case .rate: requestsPerMinuteMax = nil
            case .storage: storageBytesMax = nil
            case .userStorage: userStorageBytesMax = nil
            case .amazonTag: amazonTag = nil
            case .bookshopID: bookshopID = nil
            }
        }
    }
}
