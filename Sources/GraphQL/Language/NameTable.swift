/// Names the document has said before, so that a name which comes again is not made into a `String` anew.
///
/// Each name has one slot, and the last one of those that share it stays: whoever makes names collide gains
/// nothing but the cost of a string each.
struct NameTable {
    /// The bytes of a name of up to sixteen, which tell it from every other; zero for longer ones.
    struct Key: Equatable {
        var low: UInt64 = 0
        var high: UInt64 = 0
    }

    private struct Slot {
        var key = Key()
        var text = ""
    }

    private var slots: [Slot]
    private let shift: UInt64

    /// As many slots as a text of that size may use.
    init(bytesCount: Int) {
        let bits = bytesCount < 512 ? 5 : bytesCount < 4_096 ? 7 : 9
        slots = Array(repeating: Slot(), count: 1 << bits)
        shift = UInt64(64 - bits)
    }

    /// The text of a name: the bytes of `range`, of which `key` was made.
    mutating func text(_ key: Key, _ range: Range<Int>, in bytes: Span<UInt8>) -> String {
        guard key.low != 0 else { return text(of: range, in: bytes) }
        let hash = (key.low ^ (key.high &* 31)) &* 0x9E37_79B9_7F4A_7C15
        let index = Int(truncatingIfNeeded: hash >> shift)
        if slots[index].key == key { return slots[index].text }
        let text = text(of: range, in: bytes)
        slots[index] = Slot(key: key, text: text)
        return text
    }

    private func text(of range: Range<Int>, in bytes: Span<UInt8>) -> String {
        let name = bytes.extracting(range)
        return String(unsafeUninitializedCapacity: name.count) { buffer in
            for index in name.indices { buffer[index] = name[index] }
            return name.count
        }
    }
}
