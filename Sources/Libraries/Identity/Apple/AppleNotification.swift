/// A notification that Apple sends to the server about a user of one of its apps.
///
/// Apple may deliver a notification more than once. Compare `id` to detect duplicates.
///
/// Spec: https://developer.apple.com/documentation/signinwithapple/processing-changes-for-sign-in-with-apple-accounts
package struct AppleNotification: Sendable, Equatable {
    package enum Event: Sendable, Equatable {
        /// The user stopped using Sign in with Apple for the app. End the sessions and keep the data.
        case consentRevoked
        /// The Apple account was deleted. Delete the user's account here as well.
        case accountDeleted
        /// Mail to the private relay address is forwarded again.
        case emailEnabled(email: String?)
        /// Mail to the private relay address is no longer forwarded.
        case emailDisabled(email: String?)
        /// An event type that is not known here. Respond with 200 and do nothing.
        case unknown(type: String)
    }

    /// The `jti` claim.
    package var id: String
    /// The matching configured issuer.
    package var issuer: String
    /// The matching configured audience: the client ID of the app that the notification is about.
    package var audience: String
    package var subject: String
    package var event: Event
    /// The time of the event in milliseconds since the Unix epoch; nil if the notification has none.
    package var eventMilliseconds: Int64?
    /// When the notification expires. Its id must be remembered until 60 s (the clock skew) after this.
    package var expiresAt: UnixSeconds

    /// The maximum size of a notification's HTTP body. Larger bodies are rejected without parsing.
    package static let bodyBytesMax = 32 << 10

    /// Returns the signed payload of a notification's HTTP body, `{"payload": "..."}`; nil if malformed.
    package static func payload(ofBody body: [UInt8]) -> String? {
        guard body.count <= bodyBytesMax else { return nil }
        return JSON.parse(body)?["payload"]?.text
    }
}

extension IdentityTokenVerifier {
    /// Verifies a notification's payload with the same issuers, audiences, and keys as identity tokens.
    package func verifyNotification(
        _ payload: String, now: UnixSeconds
    ) async throws(TokenError) -> AppleNotification {
        let compact = try CompactToken(payload, algorithms: algorithms)
        let key = try await keys.key(id: compact.keyID, algorithm: compact.algorithm, now: now)
        let claims = try compact.claims(verifiedBy: key)
        let issuer = try claims.issuer(among: issuers)
        let audience = try claims.audience(among: audiences)
        let times = try claims.times(now: now, ageSecondsMax: ageSecondsMax)
        // Apple encodes the events as a JSON string inside the JSON. A plain object is accepted as well.
        guard let events = claims["events"] else { throw .wrongKind }
        let parsed = events.bytes.map(JSON.parse) ?? events
        guard let parsed, case .object = parsed else { throw .claim("events") }
        let event = Claims(parsed)
        let email = try? event.text("email", bytesMax: 320)
        let kind: AppleNotification.Event =
            switch try event.text("type") {
            case "consent-revoked": .consentRevoked
            // Apple documents the first spelling but sends the second.
            case "account-delete", "account-deleted": .accountDeleted
            case "email-enabled": .emailEnabled(email: email)
            case "email-disabled": .emailDisabled(email: email)
            case let other: .unknown(type: loggable(other.utf8))
            }
        return AppleNotification(
            id: try claims.text("jti"), issuer: issuer, audience: audience,
            subject: try event.text("sub"), event: kind,
            eventMilliseconds: try event.seconds("event_time"), expiresAt: times.expiresAt)
    }
}
