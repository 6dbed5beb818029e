/// Limits on the text of a document, which the parser enforces.
///
/// The default values are meant for documents from clients. `trusted` is meant for your own files,
/// such as a schema.
public struct ParseLimits: Sendable {
    /// The maximum length of the source text in bytes. Never more than an `Int32` offset can
    /// represent.
    public var sourceBytesMax: Int
    /// The maximum number of tokens. Comments and the end of the text do not count.
    public var tokensMax: Int
    /// The maximum nesting depth. Selection sets, list values, object values, and list types are
    /// counted together.
    ///
    /// Neither the parser nor the code that reads its trees recurses, so this limit does not
    /// protect the thread's stack.
    public var nestingMax: Int

    /// Creates limits. The defaults are for documents of clients.
    public init(sourceBytesMax: Int = 100_000, tokensMax: Int = 5_000, nestingMax: Int = 64) {
        self.sourceBytesMax = min(sourceBytesMax, Int(Int32.max) - 1)
        self.tokensMax = tokensMax
        self.nestingMax = nestingMax
    }

    /// Limits for trusted documents: any number of bytes and tokens, and at most 200 levels.
    public static let trusted = ParseLimits(sourceBytesMax: .max, tokensMax: .max, nestingMax: 200)
}
