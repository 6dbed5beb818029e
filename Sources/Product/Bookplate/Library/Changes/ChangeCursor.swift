import Basics
import Identity
import Requests

/// A position in the change log of a library: after the change with this number. Its text is opaque to clients.
///
/// The cursor also has the time of the change. A database that was restored, or that became the primary without the latest
/// changes, gives their numbers to other changes. These have other times, so a cursor of a lost change is recognized.
struct ChangeCursor: Equatable {
    /// The number of the change; 0 for the beginning of the log.
    let seq: Int64
    /// The time of the change in microseconds since the Unix epoch; 0 for the beginning of the log.
    let at: Int64

    /// The beginning of the log.
    static let start = ChangeCursor(seq: 0, at: 0)

    /// The first byte of the encoded cursor, which distinguishes it from cursors of connections.
    private static let tag = UInt8(ascii: "c")

    init(seq: Int64, at: Int64) {
        self.seq = seq
        self.at = at
    }

    /// - Throws: `.badUserInput` if the text is not a cursor of a change log.
    init(_ text: String) throws(BookplateError) {
        guard text.utf8.count <= 64, let bytes = Base64URL.decode(text.utf8),
            [9, 17].contains(bytes.count), bytes[0] == Self.tag
        else {
            throw .badUserInput(
                field: "after", .init(.invalidCursor))
        }
        func number(_ bytes: ArraySlice<UInt8>) -> Int64 {
            bytes.reduce(0) { $0 << 8 | Int64($1) }
        }
        seq = number(bytes[1..<9])
        // Cursors of earlier releases have no time. No change has the time 0, so they require a reset.
        at = number(bytes[9...])
    }

    var text: String {
        var bytes = [Self.tag]
        withUnsafeBytes(of: seq.bigEndian) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: at.bigEndian) { bytes.append(contentsOf: $0) }
        return Base64URL.encode(bytes)
    }
}
