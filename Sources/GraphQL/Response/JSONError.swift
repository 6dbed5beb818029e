/// What a JSON text may cost.
public struct JSONLimits: Sendable {
    public var bytesMax: Int
    /// Levels of lists and objects. The reader needs no stack for them, but freeing the value does: about 300 bytes a level.
    public var nestingMax: Int

    public init(bytesMax: Int = 1 << 20, nestingMax: Int = 64) {
        self.bytesMax = bytesMax
        self.nestingMax = nestingMax
    }
}

/// Why a text is no JSON, or none that is read here. Offsets count bytes from 0.
public enum JSONError: Error, Sendable, Equatable {
    case tooLong(bytesMax: Int)
    case tooDeep(nestingMax: Int, offset: Int)
    case notUTF8(offset: Int)
    /// Two members of one object have the same name: readers differ in which of them they take.
    case duplicateMember(name: String, offset: Int)
    /// Escapes that form no Unicode scalar value, such as half a surrogate pair.
    case invalidEscape(offset: Int)
    case unexpected(offset: Int)
    case unexpectedEnd

    /// A sentence for a person.
    public var message: String {
        switch self {
        case .tooLong(let bytesMax): "JSON is longer than \(bytesMax) bytes."
        case .tooDeep(let nestingMax, let offset):
            "JSON is nested deeper than \(nestingMax) levels at byte \(offset)."
        case .notUTF8(let offset): "JSON is not valid UTF-8 at byte \(offset)."
        case .duplicateMember(let name, let offset):
            "JSON has the member \"\(name)\" twice in one object at byte \(offset)."
        case .invalidEscape(let offset): "JSON has an invalid escape at byte \(offset)."
        case .unexpected(let offset): "JSON has an unexpected character at byte \(offset)."
        case .unexpectedEnd: "JSON ends too early."
        }
    }
}
