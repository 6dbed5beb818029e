import Identity
import Logging
import Requests
import Synchronization

/// The verified claims of an identity token, and the tenant that it was issued for.
struct VerifiedIdentity: Sendable {
    let tenant: Tenant
    let claims: IdentityClaims
    /// Whether the issuer is that of the server's configuration, which is Apple, and not a provider of the tenant.
    let isFromApple: Bool

    /// The value of `identities.subject`. Subjects of other providers are prefixed with the issuer and U+001F, a character
    /// that does not occur in subjects, so that two providers cannot collide.
    var subject: String {
        isFromApple ? claims.subject : "\(claims.issuer)\u{1F}\(claims.subject)"
    }
}

/// Verifies identity tokens for the tenant that they were issued for.
final class Identities: Sendable {
    private let issuers: [String]
    private let keySets: [String: KeySetCache]
    private let makeKeySet: (@Sendable (KeySetCache.Source) -> KeySetCache)?
    private let auditEvents: AuditEvents
    private let logger: Logger
    /// The key sets of tenants' own providers, created on first use.
    private let providerKeySets = Mutex<[KeySetCache.Source: KeySetCache]>([:])

    private static let providerKeySetsMax = 1000

    /// - Parameters:
    ///   - issuers: The issuers for tenants that have none of their own.
    ///   - keySets: The keys of these issuers, by issuer.
    ///   - makeKeySet: Returns the keys of a provider; nil if tenants cannot have their own providers.
    init(
        issuers: [String], keySets: [String: KeySetCache],
        makeKeySet: (@Sendable (KeySetCache.Source) -> KeySetCache)?, auditEvents: AuditEvents,
        logger: Logger
    ) {
        self.issuers = issuers
        self.keySets = keySets
        self.makeKeySet = makeKeySet
        self.auditEvents = auditEvents
        self.logger = logger
    }

    /// Returns the providers with which readers of a tenant can sign in, first the configured issuers as one provider without a name:
    /// Apple has two issuers.
    ///
    /// - Returns: The name that apps send, the issuers, and the client IDs for which tokens may be issued, of each provider.
    func providers(
        of tenant: Tenant
    ) -> [(name: String?, issuers: [String], clientIDs: [String])] {
        let configured = issuers.filter { issuer in
            !tenant.providers.contains { $0.issuer == issuer }
        }
        let own = tenant.providers.map { provider in
            (
                name: Optional(provider.name), issuers: [provider.issuer],
                clientIDs: provider.audiences.isEmpty ? tenant.audiences : provider.audiences
            )
        }
        let all = [(name: String?.none, issuers: configured, clientIDs: tenant.audiences)] + own
        return all.compactMap { provider in
            let accepted = provider.issuers.filter {
                tenant.issuers.isEmpty || tenant.issuers.contains($0)
            }
            return accepted.isEmpty ? nil : (provider.name, accepted, provider.clientIDs)
        }
    }

    /// Verifies an identity token.
    ///
    /// - Parameter provider: The name of the provider from which the client got the token; nil for Apple, and for providers
    ///   without client IDs of their own.
    /// - Throws: `.unauthenticated` for every invalid token; the reason is only logged. `.upstreamUnavailable` if the
    ///   issuer's keys cannot be fetched.
    func verify(
        _ token: String, of provider: String? = nil, nonce: String?, among tenants: [Tenant],
        requestID: String
    ) async throws(BookplateError) -> VerifiedIdentity {
        let found =
            provider.map { self.verifier(for: token, of: $0, among: tenants) }
            ?? self.verifier(for: token, among: tenants)
        guard let (tenant, verifier, isFromApple) = found else {
            logger.notice(
                "refused an identity token",
                metadata: [
                    "request_id": "\(requestID)",
                    "reason": "\(TokenError.reasonWithoutVerifier(token))",
                ])
            auditEvents.add(.signInRefused, reason: TokenError.reasonWithoutVerifier(token))
            throw .unauthenticated
        }
        do throws(TokenError) {
            let claims = try await verifier.verify(token, nonce: nonce, now: unixSecondsNow())
            return VerifiedIdentity(tenant: tenant, claims: claims, isFromApple: isFromApple)
        } catch {
            logger.notice(
                "refused an identity token",
                metadata: [
                    "request_id": "\(requestID)", "tenant": "\(tenant.slug)",
                    "reason": "\(error.reason)",
                ])
            auditEvents.add(.signInRefused, reason: error.reason)
            if case .unavailable = error.meaning {
                throw .upstreamUnavailable(
                    .init(.signInUnavailable))
            }
            throw .unauthenticated
        }
    }

    /// Returns the verifier of the tenant that a token claims to be issued for; nil if no configured tenant and issuer match.
    ///
    /// The claims are not verified yet. They only select from the configured tenants and issuers.
    func verifier(
        for token: String, among tenants: [Tenant]
    ) -> (Tenant, IdentityTokenVerifier, isFromApple: Bool)? {
        let claimed = IdentityTokenVerifier.claimed(by: token)
        guard let claimedIssuer = claimed.issuer,
            let tenant = tenants.first(where: { tenant in
                claimed.audiences.contains(where: tenant.audiences.contains)
            })
        else { return nil }
        // Providers with client IDs of their own are named by the client.
        let providers = tenant.providers.filter(\.audiences.isEmpty)
        let accepted =
            tenant.issuers.isEmpty ? issuers + providers.map(\.issuer) : tenant.issuers
        guard let issuer = accepted.first(where: { $0.utf8.elementsEqual(claimedIssuer.utf8) })
        else { return nil }
        if let provider = providers.first(where: { $0.issuer == issuer }) {
            guard let keys = keys(of: provider) else { return nil }
            return (
                tenant, Self.verifier(of: provider, audiences: tenant.audiences, keys), false
            )
        }
        guard let keys = keySets[issuer] else { return nil }
        return (
            tenant,
            IdentityTokenVerifier(issuers: [issuer], audiences: tenant.audiences, keys: keys), true
        )
    }

    /// Returns the verifier of the tenant's provider with the name, if the token claims to be from its issuer and for one of its
    /// client IDs.
    ///
    /// A token of another issuer is refused, even if the tenant lists that issuer, too: the client has named this
    /// provider.
    private func verifier(
        for token: String, of name: String, among tenants: [Tenant]
    ) -> (Tenant, IdentityTokenVerifier, isFromApple: Bool)? {
        let claimed = IdentityTokenVerifier.claimed(by: token)
        guard let claimedIssuer = claimed.issuer else { return nil }
        for tenant in tenants {
            guard let provider = tenant.providers.first(where: { $0.name == name }),
                provider.issuer.utf8.elementsEqual(claimedIssuer.utf8),
                tenant.issuers.isEmpty || tenant.issuers.contains(provider.issuer)
            else { continue }
            let audiences = provider.audiences.isEmpty ? tenant.audiences : provider.audiences
            guard claimed.audiences.contains(where: audiences.contains),
                let keys = keys(of: provider)
            else { continue }
            return (tenant, Self.verifier(of: provider, audiences: audiences, keys), false)
        }
        return nil
    }

    /// Other providers than Apple return the nonce itself, and call some access tokens JWT, too.
    private static func verifier(
        of provider: IdentityProvider, audiences: [String], _ keys: KeySetCache
    ) -> IdentityTokenVerifier {
        IdentityTokenVerifier(
            issuers: [provider.issuer], audiences: audiences, keys: keys,
            algorithms: TokenAlgorithm.publicKey, acceptsPlainNonce: true)
    }

    private func keys(of provider: IdentityProvider) -> KeySetCache? {
        guard let makeKeySet else { return nil }
        let source = provider.keySource
        return providerKeySets.withLock { keySets in
            if let known = keySets[source] { return known }
            // Operators configure the providers, so the limit is reached only after years of changes.
            if keySets.count >= Self.providerKeySetsMax { keySets.removeAll() }
            let made = makeKeySet(source)
            keySets[source] = made
            return made
        }
    }
}
