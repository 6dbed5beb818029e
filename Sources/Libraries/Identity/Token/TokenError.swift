/// The reason why a token is rejected.
///
/// A client only receives `meaning`. The operator's log receives `reason`, which contains no token, subject,
/// or e-mail address. The parts of the token that it quotes are truncated and limited to printable ASCII.
package enum TokenError: Error, Equatable, Sendable {
    case tooLong(bytesMax: Int)
    /// The token is not three parts of canonical base64url, or the JSON inside is not strict.
    case malformed
    /// A header parameter is not allowed, or `typ` is that of another kind of token.
    case header(String)
    /// The algorithm is not configured.
    case algorithm(String)
    case keyIDMissing
    /// The issuer's key set has no usable key with this ID and algorithm.
    case unknownKey(id: String)
    case badSignature
    case issuer(String)
    case audience(String)
    case expired(secondsAgo: Int64)
    case notYetValid
    case issuedInFuture
    case tooOld(secondsMax: Int64)
    /// A claim is missing or has the wrong type or size.
    case claim(String)
    case nonceMissing
    case nonceUnexpected
    case nonceMismatch
    /// The token is valid but of another kind, for example a notification instead of an identity token.
    case wrongKind
    /// The issuer's keys are not cached and cannot be fetched now.
    case keysUnavailable

    /// The part of the reason that a client may see.
    package enum Meaning: Sendable {
        /// The token is rejected, for an undisclosed reason.
        case unauthenticated
        /// The token could not be checked; trying again later may help.
        case unavailable
    }

    package var meaning: Meaning {
        if case .keysUnavailable = self { .unavailable } else { .unauthenticated }
    }

    /// The reason in one line, for the operator's log.
    package var reason: String {
        switch self {
        case .tooLong(let bytesMax): "longer than \(bytesMax) bytes"
        case .malformed: "not a compact JWS with strict JSON"
        case .header(let name): "header parameter '\(name)' is not accepted"
        case .algorithm(let name): "algorithm '\(name)' is not configured"
        case .keyIDMissing: "the token has no key ID"
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
        case .nonceMismatch: "the nonce does not match"
        case .wrongKind: "the token is of another kind"
        case .keysUnavailable: "the issuer's keys cannot be fetched"
        }
    }
}

extension TokenError {
    /// Explains for the log why no configured verifier matches a token: it is malformed, or its issuer and
    /// audience are not configured.
    package static func reasonWithoutVerifier(_ token: String) -> String {
        do throws(TokenError) {
            let claimed = try CompactToken(token, algorithms: TokenAlgorithm.publicKey).claimed
            return "no tenant has the issuer '\(loggable(claimed.issuer ?? []))' and the audience "
                + "'\(loggable(claimed.audiences.first ?? []))'"
        } catch {
            return error.reason
        }
    }
}

/// Returns untrusted text for the log: at most 64 characters of printable ASCII, with `?` for all others.
func loggable(_ bytes: some Collection<UInt8>) -> String {
    let shown = bytes.prefix(64).map { byte in
        (0x20...0x7E).contains(byte) && byte != UInt8(ascii: "'") ? byte : UInt8(ascii: "?")
    }
    return String(decoding: shown, as: UTF8.self) + (bytes.count > 64 ? "..." : "")
}
