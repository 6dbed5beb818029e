import Identity
import Postgres

/// The caller of a request, from a verified access token.
///
/// The token does not prove that the session still exists. The first statement of a request checks that.
package struct Viewer: Sendable, Equatable {
    package let userID: UUID
    package let tenantID: UUID
    /// The ID of the session. A caller with a personal access token has none; this is then the ID of the token.
    package let sessionID: UUID
    /// Whether the caller has sent a personal access token.
    package let usesPersonalToken: Bool

    package init(userID: UUID, tenantID: UUID, sessionID: UUID) {
        self.userID = userID
        self.tenantID = tenantID
        self.sessionID = sessionID
        usesPersonalToken = false
    }

    package init(userID: UUID, tenantID: UUID, accessTokenID: UUID) {
        self.userID = userID
        self.tenantID = tenantID
        sessionID = accessTokenID
        usesPersonalToken = true
    }
}

extension Viewer {
    init(_ claims: AccessClaims) {
        self.init(
            userID: claims.userID, tenantID: claims.tenantID,
            sessionID: claims.sessionID)
    }
}
