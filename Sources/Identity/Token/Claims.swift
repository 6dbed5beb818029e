/// The claims of a token whose signature has been verified, read strictly.
///
/// Spec: https://www.rfc-editor.org/rfc/rfc7519#section-4.1
struct Claims {
    /// How far clocks of two machines may differ.
    static let skewSeconds: Int64 = 60

    private let json: JSON

    init(_ verified: JSON) {
        json = verified
    }

    subscript(_ name: StaticString) -> JSON? { json[name] }

    /// A string of 1 to `bytesMax` bytes without control characters.
    func text(_ name: StaticString, bytesMax: Int = 255) throws(TokenError) -> String {
        guard let bytes = json[name]?.bytes, (1...bytesMax).contains(bytes.count),
            bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else { throw .claim("\(name)") }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A time in seconds, rounded down; nil when absent.
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

    /// A Boolean as itself or as the string "true" or "false", both of which Apple sends; nil when absent or anything else.
    func flag(_ name: StaticString) -> Bool? {
        switch json[name] {
        case .bool(let flag)?: flag
        case .string(let text)? where text.elementsEqual("true".utf8): true
        case .string(let text)? where text.elementsEqual("false".utf8): false
        default: nil
        }
    }

    /// The issuer, which must be one of `issuers` byte for byte.
    func issuer(among issuers: [String]) throws(TokenError) -> String {
        guard let bytes = json["iss"]?.bytes else { throw .claim("iss") }
        guard let issuer = issuers.first(where: { bytes.elementsEqual($0.utf8) }) else {
            throw .issuer(loggable(bytes))
        }
        return issuer
    }

    /// The first audience; all of the token's must be among `audiences`, byte for byte.
    func audience(among audiences: [String]) throws(TokenError) -> String {
        let claimed: [JSON] =
            switch json["aud"] {
            case .string(let one)?: [.string(one)]
            case .array(let several)?: several
            default: []
            }
        guard let first = claimed.first else { throw .claim("aud") }
        for claim in claimed {
            guard let bytes = claim.bytes else { throw .claim("aud") }
            guard audiences.contains(where: { bytes.elementsEqual($0.utf8) }) else {
                throw .audience(loggable(bytes))
            }
        }
        return first.text ?? ""  // the loop has seen that it is a string
    }

    /// Checks `exp` and `iat`, which must be there, and `nbf`.
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
