/// Reads one JSON value, strictly by RFC 8259: no comments, no trailing commas, no byte order mark.
///
/// Integers that fit into 64 bits become `.int`, larger ones `.bigInt`, so no integer loses digits. Numbers with a
/// fraction or an exponent become `.float`, which is infinite beyond its range. Members keep their order. Two members with
/// the same name in one object, lone surrogates, and bytes that are not UTF-8 are errors. `\u0000` is an ordinary character.
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

/// A reader over bytes that are known to be UTF-8.
///
/// What is read waits on stacks of its own for the list or object around it, so nesting costs nothing of the thread's.
struct JSONReader: ~Copyable {
    let bytes: [UInt8]
    let nestingMax: Int
    var position = 0
    private var around: [Container] = []
    private var values: [Value] = []
    private var names: [String] = []

    /// A list or object that is being read: its values and names are those from there on.
    private struct Container {
        let isObject: Bool
        let valuesStart: Int
        let namesStart: Int
        var seenNames = SeenNames()
    }

    init(bytes: [UInt8], nestingMax: Int) {
        self.bytes = bytes
        self.nestingMax = nestingMax
    }

    mutating func readValue() throws(JSONError) -> Value {
        while true {
            switch try nextByte() {
            case UInt8(ascii: "{"): try open(isObject: true)
            case UInt8(ascii: "["): try open(isObject: false)
            default: values.append(try readLeaf())
            }
            // Up to the place of the next value.
            while try !isAtNextValue() {
                if around.isEmpty { return values.removeLast() }
            }
        }
    }

    private mutating func open(isObject: Bool) throws(JSONError) {
        guard around.count < nestingMax else {
            throw .tooDeep(nestingMax: nestingMax, offset: position)
        }
        position += 1
        around.append(
            Container(isObject: isObject, valuesStart: values.count, namesStart: names.count))
    }

    /// Takes what stands behind a value or an opening bracket; closes the innermost list or object where it ends.
    private mutating func isAtNextValue() throws(JSONError) -> Bool {
        guard !around.isEmpty else { return false }
        // Not the container itself: another reference to its names would have them copied by the next that is added.
        let isObject = around[around.count - 1].isObject
        let valuesStart = around[around.count - 1].valuesStart
        let end = isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")
        let byte = try nextByte()
        if byte == end {
            position += 1
            close()
            return false
        }
        if values.count > valuesStart {
            guard byte == UInt8(ascii: ",") else { throw .unexpected(offset: position) }
            position += 1
        }
        if isObject { try readName() }
        return true
    }

    private mutating func close() {
        let container = around.removeLast()
        let value = contents(of: container)
        values.removeLast(values.count - container.valuesStart)
        names.removeLast(names.count - container.namesStart)
        values.append(value)
    }

    /// A function of its own, so that no slice is left when its items are removed, which would copy all the others.
    private func contents(of container: Container) -> Value {
        let items = values[container.valuesStart...]
        return container.isObject
            ? .object(zip(names[container.namesStart...], items).map(Value.Member.init))
            : .list(Array(items))
    }

    /// The name of a member of the innermost object, and the colon behind it.
    private mutating func readName() throws(JSONError) {
        guard try nextByte() == UInt8(ascii: "\"") else { throw .unexpected(offset: position) }
        let offset = position
        let name = try readString()
        let innermost = around.count - 1
        let start = around[innermost].namesStart
        guard around[innermost].seenNames.insert(name, after: names[start...]) else {
            throw .duplicateMember(name: name, offset: offset)
        }
        names.append(name)
        guard try nextByte() == UInt8(ascii: ":") else { throw .unexpected(offset: position) }
        position += 1
    }

    private mutating func readLeaf() throws(JSONError) -> Value {
        switch bytes[position] {
        case UInt8(ascii: "\""): return .string(try readString())
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

    /// False if one of the others has the name.
    mutating func insert(_ name: String, after others: ArraySlice<String>) -> Bool {
        if others.count < Self.comparedMax { return !others.contains(name) }
        if names.isEmpty { names = Set(others) }
        return names.insert(name).inserted
    }
}
