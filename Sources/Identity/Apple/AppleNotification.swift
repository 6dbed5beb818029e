/// What Apple tells a server about a person who uses one of its apps. Apple may tell it more than once: `id` says whether it
/// is known already.
///
/// Spec: https://developer.apple.com/documentation/signinwithapple/processing-changes-for-sign-in-with-apple-accounts
package struct AppleNotification: Sendable, Equatable {
    package enum Event: Sendable, Equatable {
        /// The person no longer uses Apple's sign-in with the app: end the sessions, keep the data.
        case consentRevoked
        /// The Apple account is gone: delete ours.
        case accountDeleted
        /// Mail to the private relay address is forwarded again.
        case emailEnabled(email: String?)
        /// Mail to the private relay address is no longer forwarded.
        case emailDisabled(email: String?)
        /// A kind that is not known here; answer 200 and do nothing.
        case unknown(type: String)
    }

    /// The `jti`.
    package var id: String
    /// As configured.
    package var issuer: String
    /// The app it is about, as configured.
    package var audience: String
    package var subject: String
    package var event: Event
    /// When it happened, in milliseconds since 1970; nil when not told.
    package var eventMilliseconds: Int64?
    /// When the notification itself runs out: its id need not be remembered longer (but for the clock skew of 60 s).
    package var expiresAt: UnixSeconds

    /// Larger bodies are refused unread.
    package static let bodyBytesMax = 32 << 10

    /// The signed payload inside a notification's HTTP body, `{"payload": "..."}`.
    package static func payload(ofBody body: [UInt8]) -> String? {
        guard body.count <= bodyBytesMax else { return nil }
        return JSON.parse(body)?["payload"]?.text
    }
}

extension IdentityTokenVerifier {
    /// Verifies a notification's payload like an identity token: same issuers, audiences and keys.
    package func verifyNotification(
        _ payload: String, now: UnixSeconds
    ) async throws(TokenError) -> AppleNotification {
        let compact = try CompactToken(payload, algorithms: algorithms)
        let key = try await keys.key(id: compact.keyID, algorithm: compact.algorithm, now: now)
        let claims = try compact.claims(verifiedBy: key)
        let issuer = try claims.issuer(among: issuers)
        let audience = try claims.audience(among: audiences)
        let times = try claims.times(now: now, ageSecondsMax: ageSecondsMax)
        // Apple writes the events as JSON text inside the JSON; an object would do as well.
        guard let events = claims["events"] else { throw .wrongKind }
        let parsed = events.bytes.map(JSON.parse) ?? events
        guard let parsed, case .object = parsed else { throw .claim("events") }
        let event = Claims(parsed)
        let email = try? event.text("email", bytesMax: 320)
        let kind: AppleNotification.Event =
            switch try event.text("type") {
            case "consent-revoked": .consentRevoked
            // Documented as the first, seen on the wire as the second.
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
