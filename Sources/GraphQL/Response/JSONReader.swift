/// Reads one JSON value, strictly by RFC 8259: no comments, no trailing commas, no byte order mark.
///
/// Integers that fit 64 bits are `.int`; all other numbers `.float`, infinite beyond its range. Members keep
/// their order; an object with two members of one name is refused, as are lone surrogates and bytes that
/// are no UTF-8. `\u0000` is a character like others.
public func parseJSON(
    _ bytes: [UInt8], limits: JSONLimits = JSONLimits()
) throws(JSONError) -> Value {
    guard bytes.count <= limits.bytesMax else { throw .tooLong(bytesMax: limits.bytesMax) }
    do throws(UTF8.ValidationError) {
        _ = try UTF8Span(validating: bytes.span)
    } catch {
        throw .notUTF8(offset: error.byteOffsets.lowerBound)
    }
    var reader = JSONReader(bytes: bytes, nestingMax: limits.nestingMax)
    let value = try reader.readValue()
    try reader.expectEnd()
    return value
}

/// A recursive-descent reader over bytes that are known to be UTF-8.
struct JSONReader: ~Copyable {
    let bytes: [UInt8]
    let nestingMax: Int
    var position = 0
    private var nesting = 0

    init(bytes: [UInt8], nestingMax: Int) {
        self.bytes = bytes
        self.nestingMax = nestingMax
    }

    mutating func readValue() throws(JSONError) -> Value {
        switch try nextByte() {
        case UInt8(ascii: "\""): return .string(try readString())
        case UInt8(ascii: "{"): return .object(try readMembers())
        case UInt8(ascii: "["): return .list(try readItems())
        case UInt8(ascii: "t"): return try readWord("true", .boolean(true))
        case UInt8(ascii: "f"): return try readWord("false", .boolean(false))
        case UInt8(ascii: "n"): return try readWord("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try readNumber()
        default: throw .unexpected(offset: position)
        }
    }

    /// Only white space may follow the value.
    mutating func expectEnd() throws(JSONError) {
        skipWhiteSpace()
        guard position == bytes.count else { throw .unexpected(offset: position) }
    }

    private mutating func readItems() throws(JSONError) -> [Value] {
        try descend()
        var items: [Value] = []
        if try nextByte() == UInt8(ascii: "]") {
            position += 1
        } else {
            repeat { items.append(try readValue()) } while try skipComma(before: UInt8(ascii: "]"))
        }
        nesting -= 1
        return items
    }

    private mutating func readMembers() throws(JSONError) -> [Value.Member] {
        try descend()
        var members: [Value.Member] = []
        if try nextByte() == UInt8(ascii: "}") {
            position += 1
        } else {
            var names = SeenNames()
            repeat {
                guard try nextByte() == UInt8(ascii: "\"") else {
                    throw .unexpected(offset: position)
                }
                let offset = position
                let name = try readString()
                guard names.insert(name, after: members) else {
                    throw .duplicateMember(name: name, offset: offset)
                }
                guard try nextByte() == UInt8(ascii: ":") else {
                    throw .unexpected(offset: position)
                }
                position += 1
                members.append(.init(name, try readValue()))
            } while try skipComma(before: UInt8(ascii: "}"))
        }
        nesting -= 1
        return members
    }

    private mutating func descend() throws(JSONError) {
        guard nesting < nestingMax else {
            throw .tooDeep(nestingMax: nestingMax, offset: position)
        }
        nesting += 1
        position += 1
    }

    /// Takes a comma and returns true, or takes the end of the list or object and returns false.
    private mutating func skipComma(before end: UInt8) throws(JSONError) -> Bool {
        let byte = try nextByte()
        guard byte == UInt8(ascii: ",") || byte == end else { throw .unexpected(offset: position) }
        position += 1
        return byte != end
    }

    private mutating func readWord(_ word: StaticString, _ value: Value) throws(JSONError) -> Value
    {
        for offset in 0..<word.utf8CodeUnitCount {
            guard position + offset < bytes.count else { throw .unexpectedEnd }
            guard bytes[position + offset] == word.utf8Start[offset] else {
                throw .unexpected(offset: position + offset)
            }
        }
        position += word.utf8CodeUnitCount
        return value
    }

    /// The next byte that is no white space; it is not taken.
    private mutating func nextByte() throws(JSONError) -> UInt8 {
        skipWhiteSpace()
        guard position < bytes.count else { throw .unexpectedEnd }
        return bytes[position]
    }

    private mutating func skipWhiteSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"):
                position += 1
            default: return
            }
        }
    }
}

/// Finds names that come twice: by comparison in small objects, by hashing in large ones.
private struct SeenNames {
    private static let comparedMax = 16
    private var names: Set<String> = []

    /// False if a member already has the name.
    mutating func insert(_ name: String, after members: [Value.Member]) -> Bool {
        if members.count < Self.comparedMax {
            return !members.contains { $0.name == name }
        }
        if names.isEmpty { names = Set(members.map(\.name)) }
        return names.insert(name).inserted
    }
}
