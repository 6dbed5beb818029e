import Identity
import Logging

/// Verifies identity tokens for the tenant they were made for.
struct Identities: Sendable {
    let issuers: [String]
    let keySets: [String: KeySetCache]
    let logger: Logger

    /// - Returns: the tenant whose app the token is for, and what the token says.
    /// - Throws: `.unauthenticated` whatever is wrong with it: the reason is for the log. When the
    ///   issuer's keys cannot be had, `.upstreamUnavailable`.
    func verify(
        _ token: String, nonce: String?, among tenants: [Tenant], requestID: String
    ) async throws(BookplateError) -> (Tenant, IdentityClaims) {
        // The token only chooses among what is configured; the verifier then checks its claim.
        let claimed = IdentityTokenVerifier.claimed(by: token)
        guard
            let tenant = tenants.first(where: { tenant in
                claimed.audiences.contains(where: tenant.audiences.contains)
            }),
            let issuer = (tenant.issuers.isEmpty ? issuers : tenant.issuers)
                .first(where: { $0 == claimed.issuer }),
            let keys = keySets[issuer]
        else {
            logger.notice(
                "refused an identity token: no tenant has its audience and issuer",
                metadata: ["request_id": "\(requestID)"])
            throw .unauthenticated
        }
        let verifier = IdentityTokenVerifier(
            issuers: [issuer], audiences: tenant.audiences, keys: keys)
        do throws(TokenError) {
            return (tenant, try await verifier.verify(token, nonce: nonce, now: unixSecondsNow()))
        } catch {
            logger.notice(
                "refused an identity token",
                metadata: ["request_id": "\(requestID)", "reason": "\(error)"])
            if case .keysUnavailable = error {
                throw .upstreamUnavailable(
                    "Signing in is not possible right now. Try again in a moment.")
            }
            throw .unauthenticated
        }
    }
}
