/// What a document may cost before anything is known about it.
///
/// Documents of strangers get the defaults; `trusted` is for files of one's own, such as a schema.
public struct ParseLimits: Sendable {
    /// Bytes of the source text. Never above what an `Int32` offset can name.
    public var sourceBytesMax: Int
    /// Tokens, without comments and the end of the file.
    public var tokensMax: Int
    /// Levels of selection sets, list and object values and list types, counted together.
    ///
    /// Neither the parser nor what reads its trees needs the thread's stack for them.
    public var nestingMax: Int

    public init(sourceBytesMax: Int = 100_000, tokensMax: Int = 5_000, nestingMax: Int = 64) {
        self.sourceBytesMax = min(sourceBytesMax, Int(Int32.max) - 1)
        self.tokensMax = tokensMax
        self.nestingMax = nestingMax
    }

    /// As many bytes and tokens as there are; nesting alone stays bounded.
    public static let trusted = ParseLimits(sourceBytesMax: .max, tokensMax: .max, nestingMax: 200)
}
