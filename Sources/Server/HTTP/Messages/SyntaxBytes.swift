/// The characters of HTTP's grammar.
///
/// Spec: RFC 9110, section 5.6
extension UInt8 {
    /// `tchar`, of which methods and names of headers are made.
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

    /// Space or tab.
    var isBlank: Bool { self == 0x20 || self == 0x09 }

    /// What no line of a head may have in it: a control character, but for the tab.
    var isControl: Bool { self < 0x20 && self != 0x09 || self == 0x7F }

    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    /// What a hexadecimal digit stands for; nil for anything else.
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
    /// As a string; what is no UTF-8 becomes U+FFFD.
    var text: String {
        withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }

    /// Byte for byte.
    func equals(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { expected in
            if expected.count != count { return false }
            for index in 0..<count where self[index] != expected[index] { return false }
            return true
        }
    }

    /// Whether these letters, digits and `-` are the text, which is given in lower case.
    ///
    /// Of all characters of tokens only capital letters differ from lower case in the bit that is set here.
    func isToken(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { expected in
            if expected.count != count { return false }
            for index in 0..<count where self[index] | 0x20 != expected[index] { return false }
            return true
        }
    }

    /// Where the bytes begin and end that are neither space nor tab.
    func trimmed(_ range: Range<Int>) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, self[start].isBlank { start += 1 }
        while start < end, self[end - 1].isBlank { end -= 1 }
        return start..<end
    }
}
