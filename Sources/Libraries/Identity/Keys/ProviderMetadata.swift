/// The part of a provider's discovery document that verification needs.
///
/// Spec: https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderConfig
struct ProviderMetadata {
    /// The URL of the provider's JSON Web Key Set.
    let keysURL: String

    /// Returns the URL of an issuer's discovery document.
    static func url(of issuer: String) -> String {
        (issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer)
            + "/.well-known/openid-configuration"
    }

    /// Parses a discovery document.
    ///
    /// - Throws: `.malformed` if it is not strict JSON or has no `jwks_uri`; `.wrongIssuer` if its issuer is another one, so that
    ///   no server can publish keys for an issuer that it is not.
    init(_ bytes: [UInt8], issuer: String) throws(KeySetError) {
        guard let json = JSON.parse(bytes), let named = json["issuer"]?.bytes,
            let keys = json["jwks_uri"]?.bytes, (1...2000).contains(keys.count)
        else { throw .malformed }
        guard named.elementsEqual(issuer.utf8) else { throw .wrongIssuer(loggable(named)) }
        keysURL = String(decoding: keys, as: UTF8.self)
    }
}
