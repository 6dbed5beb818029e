/// Checks incrementally that text is UTF-8. A character may be split between two pieces.
///
/// Spec: RFC 3629, section 4
struct UTF8Validator {
    /// The number of bytes that the current character still needs.
    private var missing = 0
    /// The values that its next byte may have. Only the second byte of a character is restricted further than 80…BF,
    /// which excludes overlong encodings, surrogates, and code points above U+10FFFF.
    private var next: ClosedRange<UInt8> = anyContinuation

    private static let anyContinuation: ClosedRange<UInt8> = 0x80...0xBF

    /// Whether the text ends at the end of a character.
    var isComplete: Bool { missing == 0 }

    /// - Returns: false if the text is not UTF-8, regardless of what follows.
    mutating func validate(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        for byte in bytes {
            if missing > 0 {
                guard next.contains(byte) else { return false }
                missing -= 1
                next = Self.anyContinuation
            } else if byte >= 0x80 {
                guard begin(byte) else { return false }
            }
        }
        return true
    }

    /// Processes the first byte of a multi-byte character.
    private mutating func begin(_ byte: UInt8) -> Bool {
        switch byte {
        case 0xC2...0xDF: missing = 1
        case 0xE0...0xEF: missing = 2
        case 0xF0...0xF4: missing = 3
        default: return false
        }
        switch byte {
        case 0xE0: next = 0xA0...0xBF
        case 0xED: next = 0x80...0x9F
        case 0xF0: next = 0x90...0xBF
        case 0xF4: next = 0x80...0x8F
        default: break
        }
        return true
    }
}
