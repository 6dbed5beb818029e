/// The names of a document, each once and with a number.
///
/// An open-addressed hash table over the bytes themselves: a name that comes again costs one look at a slot. The hash
/// has a multiplier of its own in each process, so that nobody can choose names that collide.
struct NameTable: Sendable {
    /// The bytes of a name, of up to sixteen; of a longer one the first eight, and a hash of the others.
    struct Key {
        var low: UInt64 = 0
        var high: UInt64 = 0
    }

    private struct Entry {
        let key: Key
        let start: Int32
        let length: Int32
    }

    private var entries: ContiguousArray<Entry> = []
    /// Numbers of names, and -1 where a slot is free; at least half of them are.
    private var slots: ContiguousArray<Int32>
    private var shift: UInt64

    static let multiplier = UInt64.random(in: .min ... .max) | 1

    /// Room for the names of a text of that size; it grows.
    init(bytesCount: Int) {
        let bits = UInt64.bitWidth - min(max(bytesCount / 16, 16), 1 << 16).leadingZeroBitCount
        slots = ContiguousArray(repeating: -1, count: 1 << bits)
        shift = UInt64(UInt64.bitWidth - bits)
        entries.reserveCapacity(1 << (bits - 1))
    }

    var count: Int { entries.count }

    func length(of name: Int32) -> Int32 { entries[Int(name)].length }

    func text(of name: Int32, in source: Source) -> String {
        let entry = entries[Int(name)]
        return source.text(Int(entry.start)..<Int(entry.start + entry.length))
    }

    /// The number of the name that stands at `start ..< end`.
    mutating func number(
        _ key: Key, _ multiplier: UInt64, at start: Int, _ end: Int, in bytes: Span<UInt8>
    ) -> Int32 {
        let length = end - start
        var slot = slot(of: key, multiplier)
        while true {
            let number = slots[slot]
            guard number >= 0 else { break }
            let entry = entries[Int(number)]
            if entry.key.low == key.low, entry.key.high == key.high, Int(entry.length) == length,
                length <= 16 || isSame(Int(entry.start), start, length, in: bytes)
            {
                return number
            }
            slot = (slot + 1) & (slots.count - 1)
        }
        let number = Int32(truncatingIfNeeded: entries.count)
        slots[slot] = number
        entries.append(
            Entry(
                key: key, start: Int32(truncatingIfNeeded: start),
                length: Int32(truncatingIfNeeded: length)))
        if entries.count > slots.count / 2 { grow(multiplier) }
        return number
    }

    private func slot(of key: Key, _ multiplier: UInt64) -> Int {
        let mixed = (key.low &* multiplier) ^ ((key.high &* multiplier) >> 29)
        return Int(truncatingIfNeeded: ((mixed ^ key.high) &* multiplier) >> shift)
    }

    private func isSame(_ left: Int, _ right: Int, _ length: Int, in bytes: Span<UInt8>) -> Bool {
        for offset in 0..<length where bytes[left + offset] != bytes[right + offset] {
            return false
        }
        return true
    }

    @inline(never)
    private mutating func grow(_ multiplier: UInt64) {
        slots = ContiguousArray(repeating: -1, count: 2 * slots.count)
        shift -= 1
        for (number, entry) in entries.enumerated() {
            var slot = slot(of: entry.key, multiplier)
            while slots[slot] >= 0 { slot = (slot + 1) & (slots.count - 1) }
            slots[slot] = Int32(truncatingIfNeeded: number)
        }
    }
}
