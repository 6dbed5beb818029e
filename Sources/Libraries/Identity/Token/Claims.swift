/// The claims of a token with a verified signature, read strictly.
///
/// Spec: https://www.rfc-editor.org/rfc/rfc7519#section-4.1
struct Claims {
    /// The tolerated difference between the clocks of two machines.
    static let skewSeconds: Int64 = 60

    private let json: JSON

    init(_ verified: JSON) {
        json = verified
    }

    subscript(_ name: StaticString) -> JSON? { json[name] }

    /// Returns a string claim of 1 to `bytesMax` bytes without control characters, and not only of white space.
    func text(_ name: StaticString, bytesMax: Int = 255) throws(TokenError) -> String {
        guard let bytes = json[name]?.bytes, (1...bytesMax).contains(bytes.count),
            bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else { throw .claim("\(name)") }
        let text = String(decoding: bytes, as: UTF8.self)
        guard !text.allSatisfy(\.isWhitespace) else { throw .claim("\(name)") }
        return text
    }

    /// Returns a numeric claim rounded down, such as a time in seconds; nil if absent.
    func seconds(_ name: StaticString) throws(TokenError) -> UnixSeconds? {
        let limit: Int64 = 1_000_000_000_000_000
        switch json[name] {
        case nil: return nil
        case .integer(let seconds)? where -limit < seconds && seconds < limit: return seconds
        case .double(let seconds)? where seconds.magnitude < Double(limit):
            return Int64(seconds.rounded(.down))
        default: throw .claim("\(name)")
        }
    }

    /// Returns a Boolean claim, which may also be the string "true" or "false" as in some of Apple's tokens;
    /// nil if absent or anything else.
    func flag(_ name: StaticString) -> Bool? {
        switch json[name] {
        case .bool(let flag)?: flag
        case .string(let text)? where text.elementsEqual("true".utf8): true
        case .string(let text)? where text.elementsEqual("false".utf8): false
        default: nil
        }
    }

    /// Returns the issuer, which must equal one of `issuers` byte for byte.
    func issuer(among issuers: [String]) throws(TokenError) -> String {
        guard let bytes = json["iss"]?.bytes else { throw .claim("iss") }
        guard let issuer = issuers.first(where: { bytes.elementsEqual($0.utf8) }) else {
            throw .issuer(loggable(bytes))
        }
        return issuer
    }

    /// Returns the audience of the token that equals one of `audiences` byte for byte.
    ///
    /// Some providers list other audiences as well, such as the other apps of a project. Such a token must have been issued to one of
    /// `audiences` (`azp`), because another of its audiences could otherwise use the token here.
    ///
    /// If all audiences are known, `azp` may be another client: Google issues tokens for a server to an app with a client ID
    /// of its own.
    ///
    /// Spec: https://openid.net/specs/openid-connect-core-1_0.html#IDTokenValidation, steps 3 to 5
    func audience(among audiences: [String]) throws(TokenError) -> String {
        let claimed: [JSON] =
            switch json["aud"] {
            case .string(let one)?: [.string(one)]
            case .array(let several)?: several
            default: []
            }
        var known: [String] = []
        var unknown: [UInt8]?
        for claim in claimed {
            guard let bytes = claim.bytes else { throw .claim("aud") }
            if let audience = audiences.first(where: { bytes.elementsEqual($0.utf8) }) {
                known.append(audience)
            } else {
                unknown = unknown ?? bytes
            }
        }
        let client = json["azp"]?.bytes.flatMap { bytes in
            known.first { bytes.elementsEqual($0.utf8) }
        }
        if let client { return client }
        if let unknown { throw .audience(loggable(unknown)) }
        guard let first = known.first else { throw .claim("aud") }
        return first
    }

    /// Checks `exp` and `iat`, which are required, and `nbf`, and returns the first two.
    func times(
        now: UnixSeconds, ageSecondsMax: Int64? = nil
    ) throws(TokenError) -> (issuedAt: UnixSeconds, expiresAt: UnixSeconds) {
        guard let expiresAt = try seconds("exp") else { throw .claim("exp") }
        guard let issuedAt = try seconds("iat") else { throw .claim("iat") }
        guard now < expiresAt + Self.skewSeconds else {
            throw .expired(secondsAgo: now - expiresAt)
        }
        guard issuedAt <= now + Self.skewSeconds else { throw .issuedInFuture }
        if let notBefore = try seconds("nbf"), notBefore > now + Self.skewSeconds {
            throw .notYetValid
        }
        if let ageSecondsMax, now - issuedAt > ageSecondsMax + Self.skewSeconds {
            throw .tooOld(secondsMax: ageSecondsMax)
        }
        return (issuedAt, expiresAt)
    }
}
