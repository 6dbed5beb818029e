/// The bytes of a document. They are valid UTF-8: the parser refuses others.
public struct Source: Sendable {
    public var bytes: [UInt8]

    public init(_ bytes: [UInt8]) { self.bytes = bytes }
    public init(_ text: String) { self.bytes = Array(text.utf8) }
}

/// A place a person can find: both numbers start at 1, columns count UTF-16 code units, as graphql-js does.
public struct SourceLocation: Hashable, Sendable {
    public var line: Int
    public var column: Int

    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }
}
