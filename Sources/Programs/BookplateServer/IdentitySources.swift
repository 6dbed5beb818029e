import Config
import HTTPFetch
import Identity
import Logging

/// The accepted identity providers: Apple, the tenants' own providers, and in development this process.
struct IdentitySources {
    let issuers: [String]
    /// The key sets by issuer.
    let keySets: [String: KeySetCache]
    /// Creates the key set of a tenant's own provider.
    let makeKeySet: @Sendable (KeySetCache.Source) -> KeySetCache
    /// nil if no key for Apple's token endpoints is configured.
    let apple: AppleClient?

    init(
        _ configuration: Configuration, _ development: DevelopmentSignIn?, _ logger: Logger
    ) throws {
        let identity = configuration.identity
        let fetcher = try Self.fetcher(
            configuration,
            to: [identity.appleJWKSURL, identity.appleTokenURL, identity.appleRevokeURL])
        let isDevelopment = configuration.environment == .development
        let makeKeySet: @Sendable (KeySetCache.Source) -> KeySetCache = { source in
            KeySetCache(
                source, fetcher: fetcher, allowsPlainHTTP: isDevelopment,
                onFailure: { error in
                    logger.error(
                        "the keys of an issuer cannot be fetched",
                        metadata: ["source": "\(source.url)", "error": "\(error)"])
                })
        }
        let apple = makeKeySet(.keys(at: identity.appleJWKSURL))
        var keySets: [String: KeySetCache] = [:]
        for issuer in identity.appleIssuers { keySets[issuer] = apple }
        if let development { keySets[development.issuer] = try development.keySet }
        issuers = identity.appleIssuers + (development.map { [$0.issuer] } ?? [])
        self.keySets = keySets
        self.makeKeySet = makeKeySet
        self.apple = try identity.appleKey.map { key in
            AppleClient(
                fetcher: fetcher, key: try Self.teamKey(key),
                tokenURL: identity.appleTokenURL, revokeURL: identity.appleRevokeURL)
        }
    }

    /// Returns a fetcher that may also connect to private hosts if the operator's settings contain them. It must not
    /// fetch URLs that clients supply.
    private static func fetcher(
        _ configuration: Configuration, to urls: [String]
    ) throws -> Fetcher {
        let hosts = urls.compactMap { try? WebURL($0).host }
        let allowed = try FetchAllowList(
            parsing: (configuration.sources.fetchAllow + hosts).joined(separator: ","))
        return Fetcher(policy: FetchPolicy(userAgent: "bookplate", allowed: allowed))
    }

    private static func teamKey(
        _ key: Configuration.Identity.AppleKey
    ) throws(StartError) -> AppleTeamKey {
        do throws(AppleKeyFileError) {
            return try AppleTeamKey(teamID: key.teamID, keyID: key.keyID, file: key.file)
        } catch {
            throw StartError(message: "BOOKPLATE_APPLE_KEY_FILE \(key.file) \(error)", code: 78)
        }
    }
}
