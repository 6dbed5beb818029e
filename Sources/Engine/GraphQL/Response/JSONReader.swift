/// Parses one JSON value, strictly according to RFC 8259: without comments, trailing commas, and
/// byte order mark.
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
    var reader = JSONReader(
        bytes: bytes, nestingMax: limits.nestingMax, valuesMax: limits.valuesMax)
    let value = try reader.readValue()
    try reader.expectEnd()
    return value
}

/// A JSON reader for valid UTF-8.
///
/// Finished values and names are kept on explicit stacks until their list or object is complete, so
/// nesting does not use the thread's stack.
struct JSONReader: ~Copyable {
    let bytes: [UInt8]
    let nestingMax: Int
    private let valuesMax: Int
    private var valueCount = 0
    var position = 0
    private var containers: [Container] = []
    private var values: [Value] = []
    private var names: [String] = []

    /// A list or object that is being read. Its values and names are those from the given indices
    /// on.
    private struct Container {
        let isObject: Bool
        let valuesStart: Int
        let namesStart: Int
        var seenNames = SeenNames()
    }

    init(bytes: [UInt8], nestingMax: Int, valuesMax: Int = .max) {
        self.bytes = bytes
        self.nestingMax = nestingMax
        self.valuesMax = valuesMax
    }

    mutating func readValue() throws(JSONError) -> Value {
        while true {
            let byte = try nextByte()
            guard valueCount < valuesMax else {
                throw .tooManyValues(valuesMax: valuesMax, offset: position)
            }
            valueCount += 1
            switch byte {
            case UInt8(ascii: "{"): try open(isObject: true)
            case UInt8(ascii: "["): try open(isObject: false)
            default: values.append(try readLeaf())
            }
            // Continue to the position of the next value.
            while try !isAtNextValue() {
                if containers.isEmpty { return values.removeLast() }
            }
        }
    }

    private mutating func open(isObject: Bool) throws(JSONError) {
        guard containers.count < nestingMax else {
            throw .tooDeep(nestingMax: nestingMax, offset: position)
        }
        position += 1
        containers.append(
            Container(isObject: isObject, valuesStart: values.count, namesStart: names.count))
    }

    /// Consumes what follows a value or an opening bracket: closing brackets, commas, and member
    /// names.
    ///
    /// - Returns: whether a value follows; false if a list or object was closed or the whole value
    ///   is complete.
    private mutating func isAtNextValue() throws(JSONError) -> Bool {
        guard !containers.isEmpty else { return false }
        // Do not copy the container: a second reference to `seenNames` would force the next
        // insertion to copy the set.
        let isObject = containers[containers.count - 1].isObject
        let valuesStart = containers[containers.count - 1].valuesStart
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
        let container = containers.removeLast()
        let value = contents(of: container)
        values.removeLast(values.count - container.valuesStart)
        names.removeLast(names.count - container.namesStart)
        values.append(value)
    }

    /// Creates the value of a container. This is a separate function so that its slices are
    /// released before their items are removed; otherwise that would copy the arrays.
    private func contents(of container: Container) -> Value {
        let items = values[container.valuesStart...]
        return container.isObject
            ? .object(zip(names[container.namesStart...], items).map(Value.Member.init))
            : .list(Array(items))
    }

    /// Reads the name of a member of the innermost object and the colon after it.
    private mutating func readName() throws(JSONError) {
        guard try nextByte() == UInt8(ascii: "\"") else { throw .unexpected(offset: position) }
        let offset = position
        let name = try readString()
        let innermost = containers.count - 1
        let start = containers[innermost].namesStart
        guard containers[innermost].seenNames.insert(name, after: names[start...]) else {
            throw .duplicateMember(name: name, offset: offset)
        }
        names.append(name)
        guard try nextByte() == UInt8(ascii: ":") else { throw .unexpected(offset: position) }
        position += 1
    }

    private mutating func readLeaf() throws(JSONError) -> Value {
        switch bytes[position] {
        case UInt8(ascii: "\""): return .string(try readString())
        case UInt8(ascii: "t"): return try readKeyword("true", .boolean(true))
        case UInt8(ascii: "f"): return try readKeyword("false", .boolean(false))
        case UInt8(ascii: "n"): return try readKeyword("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try readNumber()
        default: throw .unexpected(offset: position)
        }
    }

    /// Throws unless only white space follows.
    mutating func expectEnd() throws(JSONError) {
        skipWhiteSpace()
        guard position == bytes.count else { throw .unexpected(offset: position) }
    }

    private mutating func readKeyword(_ word: StaticString, _ value: Value) throws(JSONError)
        -> Value
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

    /// Skips white space and returns the next byte without consuming it.
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

/// Detects duplicate names: by comparison in small objects, by hashing in large ones.
private struct SeenNames {
    private static let comparedMax = 16
    private var names: Set<String> = []

    /// Inserts a name.
    ///
    /// - Returns: false if it is one of `others`, the names before it.
    mutating func insert(_ name: String, after others: ArraySlice<String>) -> Bool {
        if others.count < Self.comparedMax { return !others.contains(name) }
        if names.isEmpty { names = Set(others) }
        return names.insert(name).inserted
    }
}
