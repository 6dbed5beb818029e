/// The names of a document, each once; the place in the list is the number of the name.
struct Names: Sendable {
    private struct Entry {
        let start: Int32
        let length: Int32
    }

    private var entries: ContiguousArray<Entry> = []

    var count: Int { entries.count }

    fileprivate mutating func reserve(_ count: Int) { entries.reserveCapacity(count) }

    func length(of name: Int32) -> Int32 { entries[Int(name)].length }

    func text(of name: Int32, in source: Source) -> String {
        let entry = entries[Int(name)]
        return source.text(Int(entry.start)..<Int(entry.start + entry.length))
    }

    /// Whether that name is written there, too.
    fileprivate func isSame(_ number: Int32, _ name: NameToken, in text: borrowing MarkedText)
        -> Bool
    {
        let entry = entries[Int(number)]
        guard Int(entry.length) == name.length else { return false }
        for offset in 0..<name.length
        where text[Int(entry.start) + offset] != text[name.start + offset] { return false }
        return true
    }

    fileprivate mutating func append(_ name: NameToken) -> Int32 {
        entries.append(
            Entry(
                start: Int32(truncatingIfNeeded: name.start),
                length: Int32(truncatingIfNeeded: name.length)))
        return Int32(truncatingIfNeeded: entries.count - 1)
    }
}

/// Gives the names of a document their numbers.
///
/// An open-addressed hash table over the bytes themselves: a name that comes again costs one look at a slot. The hash
/// has multipliers of its own in each process, so that nobody can choose names that collide.
struct NameTable: ~Copyable {
    /// A free one has a key of zeros.
    private struct Slot {
        var key = NameKey(Word(bits: 0))
        var number: Int32 = 0
    }

    private(set) var names = Names()
    /// As many as a shifted hash has values, so that each is the index of one: that keeps the memory safe. At least half of
    /// them are free, so that every search ends.
    private var slots: UnsafeMutablePointer<Slot>
    private var hashShift: UInt64
    private let lowMultiplier = Self.multiplier
    private let highMultiplier = Self.highMultiplier

    static let multiplier = UInt64.random(in: .min ... .max) | 1
    private static let highMultiplier = UInt64.random(in: .min ... .max) | 1

    /// Room for the names of a text of that size; it grows.
    init(bytesCount: Int) {
        hashShift = UInt64(min(max(bytesCount / 16, 32), 1 << 10).leadingZeroBitCount)
        slots = Self.free(hashShift)
        names.reserve(slotsCount / 2)
    }

    deinit { slots.deallocate() }

    @inline(__always)
    mutating func number(of name: NameToken, in text: borrowing MarkedText) -> Int32 {
        let slot = slots[hash(name.key)]
        guard _fastPath(slot.key == name.key && !name.key.isHash) else {
            return numberOfAnother(name, in: text)
        }
        return slot.number
    }

    /// The same for a name that does not stand in its slot, being in another one or new, and for a long one.
    @inline(never)
    private mutating func numberOfAnother(
        _ name: NameToken, in text: borrowing MarkedText
    ) -> Int32 {
        var index = hash(name.key)
        while slots[index].key.low != 0 {
            let slot = slots[index]
            if slot.key == name.key,
                !name.key.isHash || names.isSame(slot.number, name, in: text)
            {
                return slot.number
            }
            index = next(index)
        }
        let number = names.append(name)
        slots[index] = Slot(key: name.key, number: number)
        if names.count > slotsCount / 2 { grow() }
        return number
    }

    @inline(__always)
    private func hash(_ key: NameKey) -> Int {
        let mixed = key.low &* lowMultiplier &+ key.high &* highMultiplier
        return Int(truncatingIfNeeded: mixed &>> hashShift)
    }

    @inline(__always)
    private func next(_ index: Int) -> Int { (index + 1) & (slotsCount - 1) }

    private var slotsCount: Int { Int(UInt64.max >> hashShift) + 1 }

    private static func free(_ hashShift: UInt64) -> UnsafeMutablePointer<Slot> {
        let count = Int(UInt64.max >> hashShift) + 1
        let slots = UnsafeMutablePointer<Slot>.allocate(capacity: count)
        slots.initialize(repeating: Slot(), count: count)
        return slots
    }

    @inline(never)
    private mutating func grow() {
        let old = UnsafeMutableBufferPointer(start: slots, count: slotsCount)
        defer { old.deallocate() }
        hashShift -= 2
        slots = Self.free(hashShift)
        for slot in old where slot.key.low != 0 {
            var index = hash(slot.key)
            while slots[index].key.low != 0 { index = next(index) }
            slots[index] = slot
        }
    }
}
