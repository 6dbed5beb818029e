import Identity
import Postgres

/// An OpenID Connect provider of a tenant, in addition to the configured issuers.
package struct IdentityProvider: Sendable, Equatable {
    /// The name that apps send, unique in the tenant.
    package var name: String
    package var issuer: String
    /// The URL of its JSON Web Key Set; nil if the issuer publishes it in its discovery document.
    package var jwksURL: String?
    /// The client IDs of the apps at this provider. If empty, the audiences of the tenant.
    package var audiences: [String]

    /// - Parameter name: The name; nil for the issuer.
    package init(
        name: String? = nil, issuer: String, jwksURL: String? = nil, audiences: [String] = []
    ) {
        self.name = name ?? issuer
        self.issuer = issuer
        self.jwksURL = jwksURL
        self.audiences = audiences
    }

    var keySource: KeySetCache.Source {
        jwksURL.map { .keys(at: $0) } ?? .discovery(issuer: issuer)
    }

    /// The SQL expressions of the providers of a tenant `t`, for `list`.
    package static let columns = [
        "p.name", "p.issuer", "coalesce(p.jwks_url, '')", #"array_to_string(p.audiences, E'\n')"#,
    ].map { column in
        """
        array(
                    SELECT \(column)
                    FROM identity_providers p
                    WHERE p.tenant_id = t.id
                    ORDER BY p.issuer
                )
        """
    }.joined(separator: ",\n        ")

    /// Reads the values of `columns`.
    package static func list(_ row: inout RowReader) -> [IdentityProvider]? {
        guard let names = row.texts(), let issuers = row.texts(), let urls = row.texts(),
            let audiences = row.texts(), names.count == issuers.count, urls.count == names.count,
            audiences.count == names.count
        else { return nil }
        return names.indices.map { index in
            IdentityProvider(
                name: names[index], issuer: issuers[index],
                jwksURL: urls[index].isEmpty ? nil : urls[index],
                audiences: audiences[index].split(separator: "\n").map(String.init))
        }
    }
}
