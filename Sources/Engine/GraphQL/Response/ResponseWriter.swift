/// A growing buffer for the JSON of a response.
///
/// Data sources write their leaves directly to it, without intermediate values or strings. If a
/// value turns out to be null, the executor discards what was written for it.
public struct ResponseWriter: ~Copyable {
    private var storage: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    /// The number of bytes written so far.
    public private(set) var count = 0

    /// Creates an empty buffer of `capacity` bytes, which grows when needed.
    public init(capacity: Int = 4096) {
        self.capacity = capacity
        storage = .allocate(capacity: capacity)
    }

    deinit { storage.deallocate() }

    /// Calls `body` with the bytes written so far. The buffer is valid only during the call.
    public func withBytes<R>(_ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
        body(UnsafeBufferPointer(start: storage, count: count))
    }

    /// A copy of the bytes written so far.
    public var bytes: [UInt8] { withBytes { Array($0) } }

    /// Discards everything after the first `count` bytes.
    package mutating func rewind(to count: Int) {
        precondition(count <= self.count, "cannot rewind forward")
        self.count = count
    }

    /// Reserves `extra` bytes and passes them to `body`, which returns the number of bytes that it
    /// wrote.
    @inline(__always)
    public mutating func reserve(_ extra: Int, _ body: (UnsafeMutablePointer<UInt8>) -> Int) {
        if count + extra > capacity { grow(by: extra) }
        count += body(storage + count)
    }

    @inline(never)
    private mutating func grow(by extra: Int) {
        capacity = max(capacity * 2, count + extra)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        larger.update(from: storage, count: count)
        storage.deallocate()
        storage = larger
    }

    // MARK: - Raw bytes

    /// Appends one byte, which must be part of JSON.
    @inline(__always)
    public mutating func append(_ byte: UInt8) {
        if count == capacity { grow(by: 1) }
        storage[count] = byte
        count += 1
    }

    /// Appends bytes that are already JSON.
    public mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
        reserve(bytes.count) {
            $0.update(from: start, count: bytes.count)
            return bytes.count
        }
    }

    /// Appends bytes that are already JSON.
    @inline(__always)
    public mutating func append(_ bytes: [UInt8]) {
        bytes.withUnsafeBufferPointer { append($0) }
    }

    /// Appends a range of bytes that are already JSON.
    @inline(__always)
    mutating func append(_ bytes: [UInt8], _ range: Range<Int>) {
        bytes.withUnsafeBufferPointer { append(UnsafeBufferPointer(rebasing: $0[range])) }
    }

    /// Appends text that is already JSON.
    public mutating func append(_ text: StaticString) {
        append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    // MARK: - JSON values

    /// Writes `null`.
    public mutating func writeNull() { append("null") }

    /// Writes `true` or `false`.
    public mutating func write(_ value: Bool) {
        if value { append("true") } else { append("false") }
    }

    /// Writes an integer.
    public mutating func write(_ value: Int) {
        // The longest Int64 has 20 characters.
        reserve(20) { out in
            var magnitude = value.magnitude
            var digits = 1
            var rest = magnitude
            while rest >= 10 {
                rest /= 10
                digits += 1
            }
            let length = value < 0 ? digits + 1 : digits
            if value < 0 { out[0] = UInt8(ascii: "-") }
            var index = length - 1
            repeat {
                out[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: magnitude % 10)
                magnitude /= 10
                index -= 1
            } while magnitude > 0
            return length
        }
    }

    /// Writes a finite number in its shortest form. JSON cannot represent other numbers.
    ///
    /// - Returns: false, without writing anything, for NaN and infinities.
    @discardableResult
    public mutating func write(_ value: Double) -> Bool {
        guard value.isFinite else { return false }
        if let whole = Int(exactly: value), whole.magnitude < 1 << 53 {
            write(whole)
            return true
        }
        var text = value.description
        text.withUTF8 { append($0) }
        return true
    }

    /// Writes a JSON string with its quotes and escapes.
    public mutating func write(_ text: String) {
        var text = text
        text.withUTF8 { write(utf8: $0) }
    }

    /// Writes valid UTF-8 as a quoted and escaped JSON string.
    public mutating func write(utf8 text: UnsafeBufferPointer<UInt8>) {
        // Reserve space for the text and two quotes. Escapes grow the buffer further if necessary.
        if count + text.count + 2 > capacity { grow(by: text.count + 2) }
        storage[count] = UInt8(ascii: "\"")
        count += 1
        var start = 0
        var index = 0
        let end = text.count
        while true {
            index = Self.indexOfEscape(in: text, from: index)
            if index == end { break }
            append(UnsafeBufferPointer(rebasing: text[start..<index]))
            writeEscape(text[index])
            index += 1
            start = index
        }
        append(start == 0 ? text : UnsafeBufferPointer(rebasing: text[start..<end]))
        append(UInt8(ascii: "\""))
    }

    /// Returns the index of the first byte that must be escaped, or the end of the text.
    ///
    /// Eight bytes are tested at a time. A byte of `word` that must be escaped sets the highest bit of the same byte in
    /// `marks`. A subtraction can borrow from the byte after a marked one, so only the first mark is exact.
    private static func indexOfEscape(
        in text: UnsafeBufferPointer<UInt8>, from start: Int
    ) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let bytes = UnsafeRawBufferPointer(text)
        var index = start
        while index + 8 <= bytes.count {
            let word = UInt64(
                littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            let quote = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
            let backslash = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
            let marks =
                (word &- ones &* 0x20) & ~word | (quote &- ones) & ~quote
                | (backslash &- ones) & ~backslash
            let first = (marks & (ones &* 0x80)).trailingZeroBitCount
            if first < 64 { return index + first / 8 }
            index += 8
        }
        while index < bytes.count {
            let byte = bytes[index]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { break }
            index += 1
        }
        return index
    }

    private mutating func writeEscape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): append("\\\"")
        case UInt8(ascii: "\\"): append("\\\\")
        case 0x0A: append("\\n")
        case 0x0D: append("\\r")
        case 0x09: append("\\t")
        default:
            append("\\u00")
            append(hexDigit(byte >> 4))
            append(hexDigit(byte & 15))
        }
    }

    /// Writes a value as JSON. NaN and infinities become null.
    public mutating func write(_ value: Value) {
        if writeLeaf(value) { return }
        // The open lists and objects, innermost last. An explicit stack, so nesting does not use
        // the thread's stack.
        var stack = [OpenValue(value)]
        append(stack[0].opening)
        while let innermost = stack.indices.last {
            guard let item = stack[innermost].next() else {
                append(stack.removeLast().closing)
                continue
            }
            if !item.isFirst { append(UInt8(ascii: ",")) }
            if let name = item.name {
                write(name)
                append(UInt8(ascii: ":"))
            }
            if !writeLeaf(item.value) {
                stack.append(OpenValue(item.value))
                append(stack[innermost + 1].opening)
            }
        }
    }

    /// Writes a leaf.
    ///
    /// - Returns: false, without writing anything, for lists and objects.
    private mutating func writeLeaf(_ value: Value) -> Bool {
        switch value {
        case .null: writeNull()
        case .boolean(let value): write(value)
        case .int(let value): write(value)
        case .bigInt(var digits): digits.withUTF8 { append($0) }
        case .float(let value): if !write(value) { writeNull() }
        case .string(let value): write(value)
        case .list, .object: return false
        }
        return true
    }
}

/// A list or an object that is being written.
private struct OpenValue {
    private let value: Value
    private var index = 0

    init(_ value: Value) { self.value = value }

    var opening: UInt8 { isObject ? UInt8(ascii: "{") : UInt8(ascii: "[") }
    var closing: UInt8 { isObject ? UInt8(ascii: "}") : UInt8(ascii: "]") }

    private var isObject: Bool { if case .object = value { true } else { false } }

    mutating func next() -> (isFirst: Bool, name: String?, value: Value)? {
        defer { index += 1 }
        switch value {
        case .list(let items) where index < items.count:
            return (index == 0, nil, items[index])
        case .object(let members) where index < members.count:
            return (index == 0, members[index].name, members[index].value)
        default:
            return nil
        }
    }
}

@inline(__always)
private func hexDigit(_ nibble: UInt8) -> UInt8 {
    nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") - 10 + nibble
}
