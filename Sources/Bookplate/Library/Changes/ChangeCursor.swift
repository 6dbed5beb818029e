import Basics
import Identity

/// A position in the change log of a library: after the change with this number. Its text is opaque to clients.
struct ChangeCursor: Equatable {
    /// The number of the change; 0 for the beginning of the log.
    let seq: Int64

    /// The first byte of the encoded cursor, which distinguishes it from cursors of connections.
    private static let tag = UInt8(ascii: "c")

    init(seq: Int64) { self.seq = seq }

    /// - Throws: `.badUserInput` if the text is not a cursor of a change log.
    init(_ text: String) throws(BookplateError) {
        guard text.utf8.count <= 64, let bytes = Base64URL.decode(text.utf8), bytes.count == 9,
            bytes[0] == Self.tag
        else {
            throw .badUserInput(
                field: "after", "This is not a cursor of changes. Start again without a cursor.")
        }
        seq = bytes.dropFirst().reduce(0) { $0 << 8 | Int64($1) }
    }

    var text: String {
        var bytes = [Self.tag]
        withUnsafeBytes(of: seq.bigEndian) { bytes.append(contentsOf: $0) }
        return Base64URL.encode(bytes)
    }
}
