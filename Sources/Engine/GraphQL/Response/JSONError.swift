/// Limits on a JSON text.
public struct JSONLimits: Sendable {
    /// The maximum size of the text, in bytes.
    public var bytesMax: Int
    /// The maximum nesting depth of lists and objects. Reading does not use the thread's stack, but
    /// releasing a nested value uses about 300 bytes per level.
    public var nestingMax: Int
    /// The maximum number of values: lists, objects, and the values in them.
    public var valuesMax: Int

    /// Creates limits.
    public init(bytesMax: Int = 1 << 20, nestingMax: Int = 64, valuesMax: Int = .max) {
        self.bytesMax = bytesMax
        self.nestingMax = nestingMax
        self.valuesMax = valuesMax
    }
}

/// The reason why a text is not valid JSON or is not accepted. Offsets are in bytes, starting at 0.
public enum JSONError: Error, Sendable, Equatable {
    /// The text is longer than the limit.
    case tooLong(bytesMax: Int)
    /// Lists and objects are nested deeper than the limit.
    case tooDeep(nestingMax: Int, offset: Int)
    /// The text contains more values than the limit.
    case tooManyValues(valuesMax: Int, offset: Int)
    /// The text is not UTF-8.
    case notUTF8(offset: Int)
    /// Two members of one object have the same name. JSON readers differ in which of them they use.
    case duplicateMember(name: String, offset: Int)
    /// An invalid escape sequence, including those that are not a Unicode scalar value, such as a
    /// lone surrogate.
    case invalidEscape(offset: Int)
    /// A character is not allowed here.
    case unexpected(offset: Int)
    /// The text ends inside of a value.
    case unexpectedEnd

    /// A complete sentence for people.
    public var message: String {
        switch self {
        case .tooLong(let bytesMax): "JSON is longer than \(bytesMax) bytes."
        case .tooDeep(let nestingMax, let offset):
            "JSON is nested deeper than \(nestingMax) levels at byte \(offset)."
        case .tooManyValues(let valuesMax, let offset):
            "JSON has more than \(valuesMax) values at byte \(offset)."
        case .notUTF8(let offset): "JSON is not valid UTF-8 at byte \(offset)."
        case .duplicateMember(let name, let offset):
            "JSON has the member \"\(shortened(name))\" twice in one object at byte \(offset)."
        case .invalidEscape(let offset): "JSON has an invalid escape at byte \(offset)."
        case .unexpected(let offset): "JSON has an unexpected character at byte \(offset)."
        case .unexpectedEnd: "JSON ends unexpectedly."
        }
    }
}
