import Identity
import Logging
import Synchronization

/// Somebody whom an issuer has vouched for, in the tenant that the token was made for.
struct VerifiedIdentity: Sendable {
    let tenant: Tenant
    let claims: IdentityClaims
    /// Whether the server's configured issuer, Apple, has vouched, and not another provider.
    let isApples: Bool

    /// The person, as the users' table knows them. A provider's subjects are its own: they bear its name, behind
    /// a character that no subject has.
    var subject: String {
        isApples ? claims.subject : "\(claims.issuer)\u{1F}\(claims.subject)"
    }
}

/// Verifies identity tokens for the tenant they were made for.
final class Identities: Sendable {
    private let issuers: [String]
    private let keySets: [String: KeySetCache]
    private let makeKeySet: (@Sendable (String) -> KeySetCache)?
    private let logger: Logger
    /// Of tenants' own providers, by where they are; made when first asked for.
    private let providerKeySets = Mutex<[String: KeySetCache]>([:])

    private static let providerKeySetsMax = 1000

    /// - Parameters:
    ///   - issuers: of tenants that name none.
    ///   - keySets: where their keys come from, by issuer.
    ///   - makeKeySet: the keys at a URL.
    init(
        issuers: [String], keySets: [String: KeySetCache],
        makeKeySet: (@Sendable (String) -> KeySetCache)?, logger: Logger
    ) {
        self.issuers = issuers
        self.keySets = keySets
        self.makeKeySet = makeKeySet
        self.logger = logger
    }

    /// - Throws: `.unauthenticated` whatever is wrong with the token: the reason is for the log. When the
    ///   issuer's keys cannot be had, `.upstreamUnavailable`.
    func verify(
        _ token: String, nonce: String?, among tenants: [Tenant], requestID: String
    ) async throws(BookplateError) -> VerifiedIdentity {
        guard let (tenant, verifier, isApples) = verifier(for: token, among: tenants) else {
            logger.notice(
                "refused an identity token",
                metadata: [
                    "request_id": "\(requestID)",
                    "reason": "\(TokenError.reasonWithoutVerifier(token))",
                ])
            throw .unauthenticated
        }
        do throws(TokenError) {
            let claims = try await verifier.verify(token, nonce: nonce, now: unixSecondsNow())
            return VerifiedIdentity(tenant: tenant, claims: claims, isApples: isApples)
        } catch {
            logger.notice(
                "refused an identity token",
                metadata: [
                    "request_id": "\(requestID)", "tenant": "\(tenant.slug)",
                    "reason": "\(error.reason)",
                ])
            if case .unavailable = error.meaning {
                throw .upstreamUnavailable(
                    "Signing in is not possible right now. Try again in a moment.")
            }
            throw .unauthenticated
        }
    }

    /// The verifier of the tenant that a token claims to be for. The token only chooses among what is configured.
    func verifier(
        for token: String, among tenants: [Tenant]
    ) -> (Tenant, IdentityTokenVerifier, isApples: Bool)? {
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
            // Operators name them, so only years of changes come here.
            if keySets.count >= Self.providerKeySetsMax { keySets.removeAll() }
            let made = makeKeySet(url)
            keySets[url] = made
            return made
        }
    }
}
