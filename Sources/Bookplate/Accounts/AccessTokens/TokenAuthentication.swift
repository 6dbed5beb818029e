import Logging
import Postgres

/// A part of the server that a personal access token opens: the enum `AccessScope`.
enum AccessScope: String {
    case progress = "PROGRESS"
}

extension RequestContext {
    /// Makes the owner of a token the caller of this request.
    ///
    /// Failed attempts are limited by address, like sign-ins. Each attempt takes a unit, so that concurrent attempts are
    /// counted, and a successful one returns it.
    ///
    /// - Throws: `.unauthenticated` for every token that does not exist, has expired, or does not have the scope.
    ///   `.rateLimited` after too many of them, or too many requests.
    func authenticate(
        _ credential: TokenCredential?, for scope: AccessScope
    ) async throws(BookplateError) {
        guard let credential else {
            if let address, let seconds = services.secondsToWait(from: address) {
                throw .rateLimited(retryAfterSeconds: seconds)
            }
            throw .unauthenticated
        }
        try services.rates.takeSignIn(from: address)
        guard let hash = credential.hash else {
            throw refusedToken("it does not have the form of a token")
        }
        let found: [TokenOwner]
        do throws(BookplateError) {
            found = try await anonymous { pipeline in
                var parameters = Parameters()
                parameters.append(bytea: hash)
                parameters.append(text: scope.rawValue, as: .inferred)
                return pipeline.append(TokenOwner.find, parameters)
            }
        } catch {
            services.rates.putBackSignIn(from: address)
            throw error
        }
        guard let owner = found.first else {
            throw refusedToken("there is no such token with this scope")
        }
        services.rates.putBackSignIn(from: address)
        viewer = owner.viewer
        try charge(1)
    }

    private func refusedToken(_ reason: String) -> BookplateError {
        services.logger.info(
            "refused a personal access token",
            metadata: ["request_id": "\(requestID)", "reason": "\(reason)"])
        return .unauthenticated
    }
}

/// The owner of a token.
private struct TokenOwner: RowDecodable {
    let viewer: Viewer

    init?(_ row: inout RowReader) {
        guard let user = row.uuid(), let tenant = row.uuid(), let token = row.uuid() else {
            return nil
        }
        viewer = Viewer(userID: user, tenantID: tenant, accessTokenID: token)
    }

    static let find = TypedStatement<Self>(
        "SELECT user_id, tenant_id, id FROM authenticate_access_token($1, $2)")
}
