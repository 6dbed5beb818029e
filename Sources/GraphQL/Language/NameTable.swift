/// The names of a document, each once; the place in the list is the number of the name.
///
/// It is written while the document is parsed, by the parser alone, and only read from then on.
struct Names: ~Copyable, @unchecked Sendable {
    private struct Entry {
        let start: Int32
        let length: Int32
    }

    private var entries: UnsafeMutableBufferPointer<Entry>
    private(set) var count = 0

    fileprivate init(capacity: Int) { entries = .allocate(capacity: capacity) }

    fileprivate init() { entries = UnsafeMutableBufferPointer(start: nil, count: 0) }

    deinit { entries.deallocate() }

    func length(of name: Int32) -> Int32 { self[name].length }

    func text(of name: Int32, in source: Source) -> String {
        let entry = self[name]
        return source.text(Int(entry.start)..<Int(entry.start + entry.length))
    }

    private subscript(name: Int32) -> Entry {
        precondition(name >= 0 && name < count, "a name that is not there")
        return entries[Int(name)]
    }

    /// Whether that name is written there, too.
    fileprivate func isSame(_ number: Int32, _ name: NameToken, in text: MarkedBytes) -> Bool {
        let entry = self[number]
        guard Int(entry.length) == name.length else { return false }
        // Word by word, the last one up to the end: names are asked about that are longer than two words.
        let start = Int(entry.start)
        let last = name.length - 8
        for offset in stride(from: 0, to: last, by: 8)
        where text.word(at: start + offset) != text.word(at: name.start + offset) { return false }
        return text.word(at: start + last) == text.word(at: name.start + last)
    }

    fileprivate mutating func append(_ name: NameToken) -> Int32 {
        precondition(count < entries.count, "more names than there is room for")
        entries.initializeElement(
            at: count,
            to: Entry(
                start: Int32(truncatingIfNeeded: name.start),
                length: Int32(truncatingIfNeeded: name.length)))
        count &+= 1
        return Int32(truncatingIfNeeded: count &- 1)
    }

    fileprivate mutating func grow(to capacity: Int) {
        let larger = UnsafeMutableBufferPointer<Entry>.allocate(capacity: capacity)
        _ = larger.moveInitialize(fromContentsOf: entries[..<count])
        entries.deallocate()
        entries = larger
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

    private var names: Names
    /// As many as a shifted hash has values, so that each is the index of one: that keeps the memory safe. At least half of
    /// them are free, so that every search ends.
    private var slots: UnsafeMutablePointer<Slot>
    /// Whether the slots are memory of its own.
    private var hasGrown = false
    private var hashShift: UInt64
    /// The index of the last slot: all bits are ones.
    private var lastSlot: Int
    private let lowMultiplier = Self.multiplier
    private let highMultiplier = Self.highMultiplier

    static let multiplier = UInt64.random(in: .min ... .max) | 1
    private static let highMultiplier = UInt64.random(in: .min ... .max) | 1

    /// The bytes that it needs for the names of a text of that size, until it grows.
    static func room(bytesCount: Int) -> Int {
        slotsCount(bytesCount: bytesCount) * MemoryLayout<Slot>.stride
    }

    private static func slotsCount(bytesCount: Int) -> Int {
        2 << (Int.bitWidth - 1 - min(max(bytesCount / 16, 32), 1 << 10).leadingZeroBitCount)
    }

    /// - Parameter room: memory that stands until the table is gone.
    init(bytesCount: Int, room: UnsafeMutableRawPointer) {
        let count = Self.slotsCount(bytesCount: bytesCount)
        hashShift = UInt64(count.leadingZeroBitCount + 1)
        lastSlot = count - 1
        slots = Self.free(count, at: room)
        names = Names(capacity: count / 2)
    }

    deinit { if hasGrown { slots.deallocate() } }

    /// The names that were given numbers.
    mutating func takeNames() -> Names {
        var taken = Names()
        swap(&taken, &names)
        return taken
    }

    @inline(always)
    mutating func number(of name: NameToken, in text: MarkedBytes) -> Int32 {
        let slot = slots[hash(name.key)]
        guard _fastPath(slot.key == name.key) else { return numberOfAnother(name, in: text) }
        return slot.number
    }

    /// The same for a name that does not stand in its slot, being in another one or new, and for a long one.
    @inline(never)
    private mutating func numberOfAnother(_ name: NameToken, in text: MarkedBytes) -> Int32 {
        let key = name.key.inTable
        var index = hash(name.key)
        while slots[index].key.low != 0 {
            let slot = slots[index]
            if slot.key == key, !key.isHash || names.isSame(slot.number, name, in: text) {
                return slot.number
            }
            index = next(index)
        }
        let number = names.append(name)
        slots[index] = Slot(key: key, number: number)
        if names.count > lastSlot >> 1 { grow() }
        return number
    }

    @inline(always)
    private func hash(_ key: NameKey) -> Int {
        let mixed = key.low &* lowMultiplier &+ key.high &* highMultiplier
        return Int(truncatingIfNeeded: mixed &>> hashShift)
    }

    @inline(always)
    private func next(_ index: Int) -> Int { (index &+ 1) & lastSlot }

    private static func free(
        _ count: Int, at memory: UnsafeMutableRawPointer
    ) -> UnsafeMutablePointer<Slot> {
        // A free slot is all zeros; told so, the C library writes them.
        memory.initializeMemory(
            as: UInt8.self, repeating: 0, count: count * MemoryLayout<Slot>.stride)
        return memory.bindMemory(to: Slot.self, capacity: count)
    }

    @inline(never)
    private mutating func grow() {
        let old = UnsafeMutableBufferPointer(start: slots, count: lastSlot + 1)
        defer { if hasGrown { old.deallocate() } else { hasGrown = true } }
        let count = 4 * old.count
        hashShift -= 2
        lastSlot = count - 1
        slots = Self.free(
            count, at: .allocate(byteCount: count * MemoryLayout<Slot>.stride, alignment: 8))
        names.grow(to: count / 2)
        for slot in old where slot.key.low != 0 {
            var index = hash(slot.key.inTable)
            while slots[index].key.low != 0 { index = next(index) }
            slots[index] = slot
        }
    }
}
