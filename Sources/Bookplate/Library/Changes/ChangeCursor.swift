import Basics
import Identity

/// A place in a library's log: behind the change with this number. Opaque to clients.
struct ChangeCursor: Equatable {
    /// 0 is before everything.
    let seq: Int64

    /// Tells it from other cursors.
    private static let tag = UInt8(ascii: "c")

    init(seq: Int64) { self.seq = seq }

    /// - Throws: `.badUserInput` for what is no cursor of the log.
    init(_ text: String) throws(BookplateError) {
        guard text.utf8.count <= 64, let bytes = Base64URL.decode(text.utf8), bytes.count == 9,
            bytes[0] == Self.tag
        else {
            throw .badUserInput(
                field: "after", "This cursor is not of the changes. Start again without it.")
        }
        seq = bytes.dropFirst().reduce(0) { $0 << 8 | Int64($1) }
    }

    var text: String {
        var bytes = [Self.tag]
        withUnsafeBytes(of: seq.bigEndian) { bytes.append(contentsOf: $0) }
        return Base64URL.encode(bytes)
    }
}
