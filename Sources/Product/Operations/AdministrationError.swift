import Postgres

/// The reason why an administrative operation was not carried out.
package enum AdministrationError: Error, Sendable {
    /// The input is not acceptable. The message is for the operator.
    case refused(String)
    case database(PostgresError)

    /// Messages for the constraints that an operator's input can violate.
    private static let constraints = [
        "tenants_slug_key":
            "there is a tenant with this slug already: choose another one, or use tenant update",
        "tenants_slug_check":
            "a slug has 1 to 63 lower-case letters, digits and hyphens, and does not start with a hyphen",
        "tenants_name_check": "a tenant needs a name: use --name",
        "tenants_amazon_tag_check": "an Amazon tag has 1 to 64 letters, digits and hyphens",
        "tenants_bookshop_id_check": "a Bookshop.org ID is a number of at most 10 digits",
        "tenants_requests_per_minute_check": "the rate must be a whole number of at least 1",
        "identity_providers_pkey": "the same provider is given twice: remove one of them",
        "identity_providers_issuer_check": "an issuer must be a URL that starts with https://",
        "identity_providers_jwks_url_check":
            "the URL of a provider's keys must start with https://",
        "users_tenant_id_fkey":
            "the tenant still has accounts because a user has just signed in: try again",
    ]

    /// Violations of known constraints become `.refused`.
    init(_ error: PostgresError) {
        if case .server(let server) = error,
            let message = server.constraint.flatMap({ Self.constraints[$0] })
        {
            self = .refused(message)
        } else {
            self = .database(error)
        }
    }
}
