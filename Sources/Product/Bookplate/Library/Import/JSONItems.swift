import Basics
import GraphQL

/// Reads the items of the lists and objects in a JSON object one at a time, so that a file of any size takes the memory of one
/// item besides its bytes.
struct JSONItems {
    /// A member of the object.
    struct Member {
        let name: String
        /// The position of the value's first byte.
        let start: Int
        /// The position after the value.
        let end: Int
    }

    /// The members of the object.
    let members: [Member]
    private let bytes: [UInt8]

    /// The limits of one item. A value that `value` returns as a whole has the same limits.
    private static let limits = JSONLimits(bytesMax: 16 << 20)

    /// - Throws: If the bytes are not a JSON object. The values of its members are not checked.
    init(_ bytes: [UInt8], membersMax: Int) throws(ImportProblem) {
        var scanner = JSONScanner(bytes)
        var members: [Member] = []
        try scanner.skip(UInt8(ascii: "{"))
        while try scanner.beginItem(closing: UInt8(ascii: "}"), isFirst: members.isEmpty) {
            guard members.count < membersMax else {
                throw ImportProblem("The file has more than \(membersMax) members.")
            }
            let nameStart = scanner.position
            try scanner.skipString()
            let name = try Self.value(bytes[nameStart..<scanner.position]).string ?? ""
            try scanner.skip(UInt8(ascii: ":"))
            scanner.skipSpace()
            let start = scanner.position
            try scanner.skipValue()
            members.append(Member(name: name, start: start, end: scanner.position))
        }
        guard scanner.isAtEnd else {
            throw ImportProblem("There is text after the end of the object.")
        }
        self.members = members
        self.bytes = bytes
    }

    subscript(name: String) -> Member? { members.first { $0.name == name } }

    /// Returns a value as a whole.
    func value(_ member: Member) throws(ImportProblem) -> Value {
        try Self.value(bytes[member.start..<member.end])
    }

    /// Returns the items of a list; none if the value is not a list.
    func list(_ member: Member) -> Items { Items(bytes, member.start) }

    private static func value(_ bytes: ArraySlice<UInt8>) throws(ImportProblem) -> Value {
        let bytes = Array(bytes)
        do throws(JSONError) {
            return try parseJSON(bytes, limits: limits)
        } catch {
            // One bad character does not lose the item.
            if let value = try? parseJSON(repairedJSON(bytes), limits: limits) { return value }
            throw ImportProblem(error.message)
        }
    }

    /// The items of a list, read lazily.
    struct Items: Sequence, IteratorProtocol {
        private var scanner: JSONScanner
        private var isFirst = true
        private var hasEnded: Bool

        fileprivate init(_ bytes: [UInt8], _ start: Int) {
            scanner = JSONScanner(bytes, start)
            hasEnded = (try? scanner.skip(UInt8(ascii: "["))) == nil
        }

        /// Returns the next item, or the reason why it cannot be read.
        mutating func next() -> Result<Value, ImportProblem>? {
            guard !hasEnded else { return nil }
            let start: Int
            do throws(ImportProblem) {
                guard try scanner.beginItem(closing: UInt8(ascii: "]"), isFirst: isFirst) else {
                    hasEnded = true
                    return nil
                }
                isFirst = false
                start = scanner.position
                try scanner.skipValue()
            } catch {
                // There is no way to find the next item.
                hasEnded = true
                return .failure(error)
            }
            return Result { () throws(ImportProblem) in
                try JSONItems.value(scanner.bytes[start..<scanner.position])
            }
        }
    }
}

/// Counts the items in the lists of a JSON object while its text arrives, so that a file with too many is refused before all of
/// it is unpacked.
struct JSONItemCounter {
    /// The number of commas in the object and in its lists, which is less than the number of items and members.
    private(set) var count = 0
    private var depth = 0
    /// Whether the value at the depth 2 is a list.
    private var isInList = false
    private var isInString = false
    private var isEscaped = false

    mutating func add(_ text: some Sequence<UInt8>) {
        for byte in text {
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                if depth == 2 { isInList = byte == UInt8(ascii: "[") }
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: ",") where depth < 2 || depth == 2 && isInList: count += 1
            default: break
            }
        }
    }
}

/// Finds the ends of JSON values by their brackets and quotes. Does not check the values themselves; the parser does.
private struct JSONScanner {
    let bytes: [UInt8]
    private(set) var position: Int

    init(_ bytes: [UInt8], _ start: Int = 0) {
        self.bytes = bytes
        position = start
    }

    var isAtEnd: Bool {
        mutating get {
            skipSpace()
            return position == bytes.count
        }
    }

    mutating func skipSpace() {
        while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) {
            position += 1
        }
    }

    /// Skips white space and this byte.
    ///
    /// - Throws: If another byte is next.
    mutating func skip(_ byte: UInt8) throws(ImportProblem) {
        skipSpace()
        guard position < bytes.count, bytes[position] == byte else { throw unexpected }
        position += 1
    }

    /// Goes to the next item of a list or object. Returns false after its closing bracket.
    mutating func beginItem(closing: UInt8, isFirst: Bool) throws(ImportProblem) -> Bool {
        skipSpace()
        guard position < bytes.count else { throw unexpected }
        if bytes[position] == closing {
            position += 1
            return false
        }
        if !isFirst { try skip(UInt8(ascii: ",")) }
        skipSpace()
        return true
    }

    /// Skips a value: up to its closing bracket or quote, or up to the byte that ends a number or a word.
    mutating func skipValue() throws(ImportProblem) {
        var depth = 0
        let start = position
        while position < bytes.count {
            let byte = bytes[position]
            if depth == 0, position > start, ",]}: \n\r\t".utf8.contains(byte) { return }
            switch byte {
            case UInt8(ascii: "\""):
                try skipString()
                if depth == 0 { return }
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                guard depth >= 0 else { throw unexpected }
                if depth == 0 {
                    position += 1
                    return
                }
            default: break
            }
            position += 1
        }
        throw unexpected
    }

    mutating func skipString() throws(ImportProblem) {
        guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
            throw unexpected
        }
        position += 1
        while position < bytes.count {
            let byte = bytes[position]
            position += byte == UInt8(ascii: "\\") ? 2 : 1
            if byte == UInt8(ascii: "\"") { return }
        }
        throw unexpected
    }

    private var unexpected: ImportProblem {
        ImportProblem("The text at byte \(min(position, bytes.count)) is not valid JSON.")
    }
}
