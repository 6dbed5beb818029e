import Glibc

/// A 128-bit identifier. The order is that of PostgreSQL's uuid type.
///
/// Spec: https://www.rfc-editor.org/rfc/rfc9562
package struct UUID: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The first eight bytes as a big-endian integer.
    package let high: UInt64
    /// The last eight bytes as a big-endian integer.
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Decodes the 16 bytes of a binary cell; nil for any other length.
    package init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 16 else { return nil }
        high = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self))
        low = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }

    /// Parses `8-4-4-4-12` hexadecimal digits in either case; nil for any other text.
    package init?(_ text: some StringProtocol) {
        self.init(text: text.utf8)
    }

    /// Parses `8-4-4-4-12` hexadecimal digits as UTF-8; nil for any other bytes.
    package init?(text: some Sequence<UInt8>) {
        // The bytes are almost always contiguous, so the common case needs no iterator.
        let parsed = text.withContiguousStorageIfAvailable {
            UUID(utf8: UnsafeRawBufferPointer($0))
        }
        guard let id = parsed ?? Array(text).withUnsafeBytes({ UUID(utf8: $0) }) else { return nil }
        self = id
    }

    private init?(utf8 text: UnsafeRawBufferPointer) {
        guard text.count == 36 else { return nil }
        var high: UInt64 = 0
        var low: UInt64 = 0
        for position in 0..<36 {
            let byte = text[position]
            switch position {
            case 8, 13, 18, 23:
                guard byte == UInt8(ascii: "-") else { return nil }
            default:
                let digit: UInt8
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
                case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
                case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
                default: return nil
                }
                high = high << 4 | low >> 60
                low = low << 4 | UInt64(digit)
            }
        }
        self.init(high: high, low: low)
    }

    /// Creates a version 7 identifier: the Unix time in milliseconds, followed by 74 random bits.
    package static func version7() -> UUID {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let milliseconds = UInt64(max(0, now.tv_sec)) &* 1000 &+ UInt64(now.tv_nsec) / 1_000_000
        var random = SystemRandomNumberGenerator()
        return UUID(
            high: milliseconds << 16 | 0x7000 | (random.next() & 0x0fff),
            low: 0x8000_0000_0000_0000 | random.next() >> 2)
    }

    package static func < (left: UUID, right: UUID) -> Bool {
        left.high == right.high ? left.low < right.low : left.high < right.high
    }

    /// The text form in lower case with hyphens.
    package var description: String {
        String(unsafeUninitializedCapacity: 36) { buffer in
            writeText(to: UnsafeMutableRawBufferPointer(buffer))
            return 36
        }
    }

    /// Appends the 36 characters of the text form as UTF-8.
    package func write(to bytes: inout [UInt8]) {
        withUnsafeTemporaryAllocation(byteCount: 36, alignment: 1) { text in
            writeText(to: text)
            bytes.append(contentsOf: text)
        }
    }

    /// Writes the 36 characters of the text form as UTF-8.
    ///
    /// - Precondition: `text` holds at least 36 bytes.
    package func writeText(to text: UnsafeMutableRawBufferPointer) {
        var position = 0
        for shift in stride(from: 124, through: 0, by: -4) {
            let word = shift >= 64 ? high >> UInt64(shift - 64) : low >> UInt64(shift)
            let digit = UInt8(truncatingIfNeeded: word & 0xf)
            text[position] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
            position += 1
            if position == 8 || position == 13 || position == 18 || position == 23 {
                text[position] = UInt8(ascii: "-")
                position += 1
            }
        }
    }
}

/// Encodes and decodes the text form.
extension UUID: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let id = UUID(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a UUID")
        }
        self = id
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
