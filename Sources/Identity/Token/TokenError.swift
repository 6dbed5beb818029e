/// Why a token is refused.
///
/// The caller of the API learns one of two things (`meaning`); the operator's log gets `reason`, which holds no token, subject or
/// e-mail, and of the token's text only what is named here, cut and in printable ASCII.
package enum TokenError: Error, Equatable, Sendable {
    case tooLong(bytesMax: Int)
    /// Not three parts of canonical base64url, or the JSON inside is not strict.
    case malformed
    /// A header parameter that must not be there, or `typ` of another kind of token.
    case header(String)
    /// Not in the configured list.
    case algorithm(String)
    case keyIDMissing
    /// No usable key of that id and algorithm in the issuer's set.
    case unknownKey(id: String)
    case badSignature
    case issuer(String)
    case audience(String)
    case expired(secondsAgo: Int64)
    case notYetValid
    case issuedInFuture
    case tooOld(secondsMax: Int64)
    /// A claim that is absent or of the wrong type or size.
    case claim(String)
    case nonceMissing
    case nonceUnexpected
    case nonceMismatch
    /// A good token of another kind: a notification where an identity token is due, say.
    case wrongKind
    /// The issuer's keys cannot be had now, and none are kept.
    case keysUnavailable

    /// What the caller may know.
    package enum Meaning: Sendable {
        /// The token is no good here; never says why.
        case unauthenticated
        /// Nothing is known about the token; trying later may help.
        case unavailable
    }

    package var meaning: Meaning {
        if case .keysUnavailable = self { .unavailable } else { .unauthenticated }
    }

    /// One line for the operator.
    package var reason: String {
        switch self {
        case .tooLong(let bytesMax): "longer than \(bytesMax) bytes"
        case .malformed: "not a compact JWS with strict JSON"
        case .header(let name): "header parameter '\(name)' is not accepted"
        case .algorithm(let name): "algorithm '\(name)' is not configured"
        case .keyIDMissing: "no key id"
        case .unknownKey(let id): "no usable key '\(id)' in the issuer's key set"
        case .badSignature: "the signature does not verify"
        case .issuer(let name): "issuer '\(name)' is not configured"
        case .audience(let name): "audience '\(name)' is not configured"
        case .expired(let seconds): "expired \(seconds) s ago"
        case .notYetValid: "not valid yet (nbf)"
        case .issuedInFuture: "issued in the future: compare the clocks"
        case .tooOld(let seconds): "issued more than \(seconds) s ago"
        case .claim(let name): "claim '\(name)' is missing or malformed"
        case .nonceMissing: "a nonce was given but the token has none"
        case .nonceUnexpected: "the token has a nonce but none was given"
        case .nonceMismatch: "the nonce is another one"
        case .wrongKind: "a token of another kind"
        case .keysUnavailable: "the issuer's keys cannot be fetched"
        }
    }
}

extension TokenError {
    /// Why no configured verifier is asked about a token: its shape, or whom it claims to be for; for the log.
    package static func reasonOfStranger(_ token: String) -> String {
        do throws(TokenError) {
            let claimed = try CompactToken(token, algorithms: [.rs256, .es256]).claimed
            return "no tenant has the issuer '\(loggable(claimed.issuer ?? []))' and the audience "
                + "'\(loggable(claimed.audiences.first ?? []))'"
        } catch {
            return error.reason
        }
    }
}

/// A stranger's text for the log: at most 64 characters, printable ASCII, the rest as `?`.
func loggable(_ bytes: some Collection<UInt8>) -> String {
    let shown = bytes.prefix(64).map { byte in
        (0x20...0x7E).contains(byte) && byte != UInt8(ascii: "'") ? byte : UInt8(ascii: "?")
    }
    return String(decoding: shown, as: UTF8.self) + (bytes.count > 64 ? "..." : "")
}
