/// Repairs JSON of other programs, of which a strict parser would lose everything because of one character.
///
/// - Bytes that are not UTF-8 are read as Windows-1252.
/// - In strings, an escaped surrogate without its partner becomes U+FFFD. Control characters are escaped. The backslash of an
///   unknown escape is removed.
/// - Outside strings, numbers that JSON does not have (`NaN`, `Infinity`, `.5`, `01`, `0x1`), numbers beyond the range of `Double`,
///   and unknown words become `null`. A comma before a closing bracket is removed.
///
/// Valid JSON keeps its values. Text that is damaged in other ways, such as a text that ends too early, stays damaged. The time is
/// linear, and the result has at most six times the bytes.
///
/// - Returns: JSON in valid UTF-8.
package func repairedJSON(_ bytes: [UInt8]) -> [UInt8] {
    let isUTF8 = (try? UTF8Span(validating: bytes.span)) != nil
    var repair = JSONRepair(isUTF8 ? bytes : repairedUTF8(bytes))
    return repair.run()
}

private struct JSONRepair {
    private let bytes: [UInt8]
    private var index = 0
    private var result: [UInt8] = []

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        result.reserveCapacity(bytes.count + 16)
    }

    mutating func run() -> [UInt8] {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { index = 3 }
        while index < bytes.count {
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: "\""): repairString()
            case UInt8(ascii: ","):
                index += 1
                if !isBeforeClosingBracket { result.append(byte) }
            case UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "["), UInt8(ascii: "]"),
                UInt8(ascii: ":"), 0x09, 0x0A, 0x0D, 0x20:
                result.append(byte)
                index += 1
            default: repairWord()
            }
        }
        return result
    }

    /// Whether only white space is before the next closing bracket.
    private var isBeforeClosingBracket: Bool {
        var next = index
        while next < bytes.count, [0x09, 0x0A, 0x0D, 0x20].contains(bytes[next]) { next += 1 }
        guard next < bytes.count else { return false }
        return bytes[next] == UInt8(ascii: "]") || bytes[next] == UInt8(ascii: "}")
    }

    /// Copies a number or a word up to the next delimiter, or writes `null` for it.
    private mutating func repairWord() {
        let start = index
        while index < bytes.count, !",:[]{}\"\t\n\r ".utf8.contains(bytes[index]) { index += 1 }
        let word = bytes[start..<index]
        let isKnown = ["true", "false", "null"].contains { word.elementsEqual($0.utf8) }
        if isKnown || Self.isNumber(word) {
            result += word
        } else {
            result += "null".utf8
        }
    }

    /// Whether the bytes are a finite number of JSON: https://www.rfc-editor.org/rfc/rfc8259#section-6
    private static func isNumber(_ word: ArraySlice<UInt8>) -> Bool {
        var rest = word
        func digits() -> Int {
            let count = rest.prefix { (0x30...0x39).contains($0) }.count
            rest = rest.dropFirst(count)
            return count
        }
        if rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
        let startsWithZero = rest.first == UInt8(ascii: "0")
        let whole = digits()
        guard whole > 0, !startsWithZero || whole == 1 else { return false }
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            guard digits() > 0 else { return false }
        }
        if let exponent = rest.first, exponent | 0x20 == UInt8(ascii: "e") {
            rest = rest.dropFirst()
            if let sign = rest.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") {
                rest = rest.dropFirst()
            }
            guard digits() > 0 else { return false }
        }
        return rest.isEmpty && Double(String(decoding: word, as: UTF8.self))?.isFinite == true
    }

    /// Copies a string with its quotes. A string without a closing quote ends with the text.
    private mutating func repairString() {
        result.append(bytes[index])
        index += 1
        while index < bytes.count {
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: "\""):
                result.append(byte)
                index += 1
                return
            case UInt8(ascii: "\\"): repairEscape()
            case 0..<0x20:
                result += "\\u00".utf8
                result.append(Self.hexDigits[Int(byte >> 4)])
                result.append(Self.hexDigits[Int(byte & 15)])
                index += 1
            default:
                result.append(byte)
                index += 1
            }
        }
    }

    private static let hexDigits = Array("0123456789abcdef".utf8)

    private mutating func repairEscape() {
        guard index + 1 < bytes.count else {
            index += 1
            return
        }
        let kind = bytes[index + 1]
        guard kind == UInt8(ascii: "u") else {
            // Without the backslash, the byte after it is read as usual.
            if "\"\\/bfnrt".utf8.contains(kind) {
                result += bytes[index..<index + 2]
                index += 2
            } else {
                index += 1
            }
            return
        }
        guard let unit = unit(at: index) else {
            index += 1
            return
        }
        let isPair =
            (0xD800..<0xDC00).contains(unit)
            && self.unit(at: index + 6).map { (0xDC00..<0xE000).contains($0) } == true
        if isPair {
            result += bytes[index..<index + 12]
            index += 12
        } else {
            if (0xD800..<0xE000).contains(unit) {
                result += "\\ufffd".utf8
            } else {
                result += bytes[index..<index + 6]
            }
            index += 6
        }
    }

    /// Returns the number of an escape such as `\u00e9`; nil if none is at the index.
    private func unit(at start: Int) -> UInt32? {
        guard start + 6 <= bytes.count, bytes[start] == UInt8(ascii: "\\"),
            bytes[start + 1] == UInt8(ascii: "u")
        else { return nil }
        var number: UInt32 = 0
        for byte in bytes[start + 2..<start + 6] {
            switch byte {
            case 0x30...0x39: number = number << 4 | UInt32(byte - 0x30)
            case 0x41...0x46, 0x61...0x66: number = number << 4 | UInt32((byte | 0x20) - 0x61 + 10)
            default: return nil
            }
        }
        return number
    }
}
