import GraphQL

extension CatalogRecord.Problem {
    /// Adds the column of the problem to its message, as text editors count it: in characters, from 1.
    func located(in line: some Collection<UInt8>) -> Self {
        guard let offset = offset ?? member.flatMap({ offsetOfValue(of: $0, in: line) }) else {
            return self
        }
        return Self(
            "\(message) (column \(String(decoding: line.prefix(offset), as: UTF8.self).count + 1))")
    }
}

/// Returns the offset of the value of an object's member in a JSON text; nil if the object has no such member.
private func offsetOfValue(of name: String, in json: some Collection<UInt8>) -> Int? {
    var depth = 0
    var isEscaped = false
    /// The bytes of the string that is open, or that was closed last.
    var text: [UInt8] = []
    var isInString = false
    var isFound = false
    for (offset, byte) in json.enumerated() {
        if isInString {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isInString = false
                continue
            }
            text.append(byte)
            continue
        }
        if isFound, byte != UInt8(ascii: " "), byte != UInt8(ascii: "\t") { return offset }
        switch byte {
        case UInt8(ascii: "\""):
            isInString = true
            text = []
        case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
        case UInt8(ascii: ":"): isFound = depth == 1 && text.elementsEqual(name.utf8)
        default: break
        }
    }
    return nil
}

extension JSONError {
    /// Whether `repairedJSON` may help.
    var isRepairable: Bool {
        switch self {
        case .notUTF8, .invalidEscape, .unexpected: true
        case .tooLong, .tooDeep, .tooManyValues, .duplicateMember, .unexpectedEnd: false
        }
    }

    /// The reason as a clause, and its offset in bytes.
    var clause: (message: String, offset: Int?) {
        switch self {
        case .tooLong(let bytesMax): ("longer than \(bytesMax) bytes", nil)
        case .tooDeep(let nestingMax, let offset):
            ("nested deeper than \(nestingMax) levels", offset)
        case .tooManyValues(let valuesMax, let offset): ("more than \(valuesMax) values", offset)
        case .notUTF8(let offset): ("not UTF-8 text", offset)
        case .duplicateMember(let name, let offset): ("“\(name)” occurs twice", offset)
        case .invalidEscape(let offset): ("an invalid escape sequence", offset)
        case .unexpected(let offset): ("an unexpected character", offset)
        case .unexpectedEnd: ("it ends too early", nil)
        }
    }
}
