/// The character classes of HTTP's grammar.
///
/// Spec: RFC 9110, section 5.6
extension UInt8 {
    /// Whether this is a `tchar`, of which methods and header names consist.
    var isTokenByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "!"), UInt8(ascii: "#"),
            UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"), UInt8(ascii: "'"),
            UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// Whether this is a space or a tab.
    var isBlank: Bool { self == 0x20 || self == 0x09 }

    /// Whether this is a control character other than the tab. Lines of a head must not contain one.
    var isControl: Bool { self < 0x20 && self != 0x09 || self == 0x7F }

    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    /// The value of a hexadecimal digit; nil for other characters.
    var hexDigit: Int? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(self) - 0x30
        case UInt8(ascii: "a")...UInt8(ascii: "f"): Int(self) - 0x61 + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): Int(self) - 0x41 + 10
        default: nil
        }
    }
}

extension Span<UInt8> {
    /// Returns the index of the first byte that may be a control character, or the end. No control character is before it.
    ///
    /// Eight bytes are tested at a time. In `word`, a byte below 0x20 or equal to 0x7F sets the highest bit of its byte in
    /// `marks`: subtracting 0x20 borrows from that bit, and only for bytes below 0x80 does `~word` keep it. A byte after a
    /// marked one may be marked as well because of the borrow, so only the first mark is exact. It may also be a tab.
    func indexOfPossibleControl(from start: Int) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        var index = start
        while index &+ 8 <= count {
            let word = UInt64(
                littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
            let delete = word ^ (ones &* 0x7F)
            let marks =
                (word &- ones &* 0x20) & ~word | (delete &- ones) & ~delete
            let first = (marks & (ones &* 0x80)).trailingZeroBitCount
            if first < 64 { return index &+ first / 8 }
            index &+= 8
        }
        while index < count, !self[index].isControl { index += 1 }
        return index
    }

    /// The bytes as a string. Invalid UTF-8 becomes U+FFFD.
    var text: String {
        withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns whether the bytes are equal to the text.
    func equals(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { expected in
            if expected.count != count { return false }
            for index in 0..<count where self[index] != expected[index] { return false }
            return true
        }
    }

    /// Returns whether the bytes are equal to the text, ignoring case.
    ///
    /// - Parameter text: Letters in lower case, digits, and `-`. A capital letter differs from its lower-case form only
    ///   in bit 0x20, and no other character that is allowed in a header becomes one of these characters when this bit
    ///   is set.
    func isToken(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { expected in
            if expected.count != count { return false }
            for index in 0..<count where self[index] | 0x20 != expected[index] { return false }
            return true
        }
    }

    /// Returns the range without leading and trailing spaces and tabs.
    func trimmed(_ range: Range<Int>) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, self[start].isBlank { start += 1 }
        while start < end, self[end - 1].isBlank { end -= 1 }
        return start..<end
    }
}
