/// A JSON value of a token. Strings are UTF-8 bytes, so that `==` compares bytes.
///
/// Swift's `String` treats canonically equivalent texts as equal, which could merge two subjects into one
/// account.
enum JSON: Equatable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// A number with a fraction or an exponent, or outside the range of Int64; may be infinite.
    case double(Double)
    case string([UInt8])
    case array([JSON])
    case object([Member])

    struct Member: Equatable, Sendable {
        var name: [UInt8]
        var value: JSON
    }

    /// Returns a member of an object; nil if it is absent or the value is not an object.
    subscript(_ name: StaticString) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return name.withUTF8Buffer { requested in
            members.first { $0.name.elementsEqual(requested) }?.value
        }
    }

    /// The UTF-8 bytes of a string; nil for other values.
    var bytes: [UInt8]? {
        if case .string(let bytes) = self { bytes } else { nil }
    }

    /// The text of a string; nil for other values.
    var text: String? {
        bytes.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Parses a JSON text with strict grammar, valid UTF-8, unique member names, and at most 32 levels.
    ///
    /// The caller must limit the length.
    ///
    /// - Returns: Nil if the text violates any of these rules.
    static func parse(_ bytes: [UInt8]) -> JSON? {
        guard String(validating: bytes, as: UTF8.self) != nil else { return nil }
        var reader = JSONReader(bytes: bytes)
        return reader.document()
    }
}

/// A recursive-descent parser.
///
/// Spec: https://www.rfc-editor.org/rfc/rfc8259
private struct JSONReader {
    static let depthMax = 32

    let bytes: [UInt8]
    var position = 0

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func document() -> JSON? {
        guard let value = value(depth: 0) else { return nil }
        skipSpace()
        return position == bytes.count ? value : nil
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func take(_ byte: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: byte) else { return false }
        position += 1
        return true
    }

    private mutating func take(word: StaticString) -> Bool {
        let matches = word.withUTF8Buffer { bytes[position...].starts(with: $0) }
        if matches { position += word.utf8CodeUnitCount }
        return matches
    }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D {
            position += 1
        }
    }

    private mutating func value(depth: Int) -> JSON? {
        guard depth < Self.depthMax else { return nil }
        skipSpace()
        switch next {
        case UInt8(ascii: "{"): return object(depth: depth)
        case UInt8(ascii: "["): return array(depth: depth)
        case UInt8(ascii: "\""): return string().map(JSON.string)
        case UInt8(ascii: "t"): return take(word: "true") ? .bool(true) : nil
        case UInt8(ascii: "f"): return take(word: "false") ? .bool(false) : nil
        case UInt8(ascii: "n"): return take(word: "null") ? .null : nil
        default: return number()
        }
    }

    private mutating func object(depth: Int) -> JSON? {
        position += 1
        var members: [JSON.Member] = []
        var names: Set<[UInt8]> = []
        skipSpace()
        if take("}") { return .object([]) }
        while true {
            skipSpace()
            guard let name = string(), names.insert(name).inserted else { return nil }
            skipSpace()
            guard take(":"), let value = value(depth: depth + 1) else { return nil }
            members.append(JSON.Member(name: name, value: value))
            skipSpace()
            if take("}") { return .object(members) }
            guard take(",") else { return nil }
        }
    }

    private mutating func array(depth: Int) -> JSON? {
        position += 1
        var elements: [JSON] = []
        skipSpace()
        if take("]") { return .array([]) }
        while true {
            guard let value = value(depth: depth + 1) else { return nil }
            elements.append(value)
            skipSpace()
            if take("]") { return .array(elements) }
            guard take(",") else { return nil }
        }
    }

    private mutating func string() -> [UInt8]? {
        guard take("\"") else { return nil }
        var text: [UInt8] = []
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return text
            case UInt8(ascii: "\\"): guard escape(into: &text) else { return nil }
            case ..<0x20: return nil
            default: text.append(byte)
            }
        }
        return nil
    }

    private mutating func escape(into text: inout [UInt8]) -> Bool {
        guard let byte = next else { return false }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            guard var code = fourHexDigits() else { return false }
            if (0xD800..<0xDC00).contains(code) {
                guard take("\\"), take("u"), let low = fourHexDigits(),
                    (0xDC00..<0xE000).contains(low)
                else { return false }
                code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
            }
            // A low surrogate without a high one is not a Unicode scalar.
            guard let scalar = Unicode.Scalar(code) else { return false }
            text.append(contentsOf: String(scalar).utf8)
        default: return false
        }
        return true
    }

    private mutating func fourHexDigits() -> UInt32? {
        var code: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = next else { return nil }
            position += 1
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                code = code << 4 | UInt32(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"):
                code = code << 4 | UInt32(byte - UInt8(ascii: "a") + 10)
            case UInt8(ascii: "A")...UInt8(ascii: "F"):
                code = code << 4 | UInt32(byte - UInt8(ascii: "A") + 10)
            default: return nil
            }
        }
        return code
    }

    private mutating func digits() -> Int {
        let start = position
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
            position += 1
        }
        return position - start
    }

    private mutating func number() -> JSON? {
        let start = position
        _ = take("-")
        if take("0") {
            // A digit after a leading zero is left unread, so the caller fails on it.
        } else if digits() == 0 {
            return nil
        }
        var isWhole = true
        if take(".") {
            isWhole = false
            guard digits() > 0 else { return nil }
        }
        if take("e") || take("E") {
            isWhole = false
            if !take("+") { _ = take("-") }
            guard digits() > 0 else { return nil }
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isWhole, let integer = Int64(text) { return .integer(integer) }
        return Double(text).map(JSON.double)
    }
}
