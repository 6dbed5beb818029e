import Identity
import Logging
import Synchronization

/// The verified claims of an identity token, and the tenant that it was issued for.
struct VerifiedIdentity: Sendable {
    let tenant: Tenant
    let claims: IdentityClaims
    /// Whether the issuer is Apple, which the server configures, rather than a tenant's own provider.
    let isFromApple: Bool

    /// The value of `users.apple_sub`. Subjects of other providers are prefixed with the issuer and U+001F, a character
    /// that does not occur in subjects, so that two providers cannot collide.
    var subject: String {
        isFromApple ? claims.subject : "\(claims.issuer)\u{1F}\(claims.subject)"
    }
}

/// Verifies identity tokens for the tenant that they were issued for.
final class Identities: Sendable {
    private let issuers: [String]
    private let keySets: [String: KeySetCache]
    private let makeKeySet: (@Sendable (String) -> KeySetCache)?
    private let auditEvents: AuditEvents
    private let logger: Logger
    /// The key sets of tenants' own providers by URL, created on first use.
    private let providerKeySets = Mutex<[String: KeySetCache]>([:])

    private static let providerKeySetsMax = 1000

    /// - Parameters:
    ///   - issuers: The issuers for tenants that have none of their own.
    ///   - keySets: The keys of these issuers, by issuer.
    ///   - makeKeySet: Returns the keys at a URL; nil if tenants cannot have their own providers.
    init(
        issuers: [String], keySets: [String: KeySetCache],
        makeKeySet: (@Sendable (String) -> KeySetCache)?, auditEvents: AuditEvents, logger: Logger
    ) {
        self.issuers = issuers
        self.keySets = keySets
        self.makeKeySet = makeKeySet
        self.auditEvents = auditEvents
        self.logger = logger
    }

    /// Verifies an identity token.
    ///
    /// - Throws: `.unauthenticated` for every invalid token; the reason is only logged. `.upstreamUnavailable` if the
    ///   issuer's keys cannot be fetched.
    func verify(
        _ token: String, nonce: String?, among tenants: [Tenant], requestID: String
    ) async throws(BookplateError) -> VerifiedIdentity {
        guard let (tenant, verifier, isFromApple) = verifier(for: token, among: tenants) else {
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
                    "Signing in is temporarily not possible. Try again in a moment.")
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
        let accepted = tenant.issuers.isEmpty ? issuers + tenant.providers.keys : tenant.issuers
        guard let issuer = accepted.first(where: { $0.utf8.elementsEqual(claimedIssuer.utf8) })
        else { return nil }
        if let url = tenant.providers[issuer] {
            guard let keys = providerKeys(at: url) else { return nil }
            return (
                tenant,
                IdentityTokenVerifier(
                    issuers: [issuer], audiences: tenant.audiences, keys: keys,
                    algorithms: [.rs256, .es256]), false
            )
        }
        guard let keys = keySets[issuer] else { return nil }
        return (
            tenant,
            IdentityTokenVerifier(issuers: [issuer], audiences: tenant.audiences, keys: keys), true
        )
    }

    private func providerKeys(at url: String) -> KeySetCache? {
        guard let makeKeySet else { return nil }
        return providerKeySets.withLock { keySets in
            if let known = keySets[url] { return known }
            // Operators configure the URLs, so the limit is reached only after years of changes.
            if keySets.count >= Self.providerKeySetsMax { keySets.removeAll() }
            let made = makeKeySet(url)
            keySets[url] = made
            return made
        }
    }
}
