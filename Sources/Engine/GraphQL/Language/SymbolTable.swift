/// The distinct names of a document. The ID of a name is its index in this list.
///
/// Only the parser appends names, while it parses. Afterwards the list is read-only and can be
/// shared between threads.
struct InternedNames: ~Copyable, @unchecked Sendable {
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
        precondition(name >= 0 && name < count, "name ID out of bounds")
        return entries[Int(name)]
    }

    /// Returns whether the stored name equals a longer name (more than 16 bytes) at another
    /// position of the text.
    fileprivate func isSame(_ id: Int32, _ name: NameToken, in text: IndexedBytes) -> Bool {
        let entry = self[id]
        guard Int(entry.length) == name.length else { return false }
        // Compare eight bytes at a time. The last eight bytes overlap those before them, which is safe
        // because these names have more than 16 bytes.
        let start = Int(entry.start)
        let last = name.length - 8
        for offset in stride(from: 0, to: last, by: 8)
        where text.word(at: start + offset) != text.word(at: name.start + offset) { return false }
        return text.word(at: start + last) == text.word(at: name.start + last)
    }

    fileprivate mutating func append(_ name: NameToken) -> Int32 {
        precondition(count < entries.count, "the name list is full")
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

/// Assigns an ID to each distinct name of a document.
///
/// This is an open-addressed hash table whose keys are the bytes of the names. Looking up a name
/// that was seen before usually inspects one slot. The multipliers of the hash function are random
/// per process, so a client cannot choose names that collide.
struct SymbolTable: ~Copyable {
    /// A slot of the table. The key of a free slot is zero.
    private struct Slot {
        var key = NameKey(Word(bits: 0))
        var id: Int32 = 0
    }

    private var names: InternedNames
    /// The number of slots equals the number of values that a shifted hash can take, so every hash
    /// is a valid index and the unchecked access is memory-safe. At least half of the slots are
    /// free, so every probe sequence ends.
    private var slots: UnsafeMutablePointer<Slot>
    /// Whether the table allocated its slots itself. At first they are in scratch memory of the
    /// source.
    private var ownsSlots = false
    private var hashShift: UInt64
    /// The index of the last slot, which is also the bit mask for slot indices.
    private var lastSlot: Int
    private let lowMultiplier = Self.multiplier
    private let highMultiplier = Self.highMultiplier

    static let multiplier = UInt64.random(in: .min ... .max) | 1
    private static let highMultiplier = UInt64.random(in: .min ... .max) | 1

    /// Returns the size in bytes of the scratch memory that the table needs at first for a text of
    /// `bytesCount` bytes.
    static func scratchSize(bytesCount: Int) -> Int {
        slotsCount(bytesCount: bytesCount) * MemoryLayout<Slot>.stride
    }

    private static func slotsCount(bytesCount: Int) -> Int {
        2 << (Int.bitWidth - 1 - min(max(bytesCount / 16, 32), 1 << 10).leadingZeroBitCount)
    }

    /// Creates a table for a text of `bytesCount` bytes.
    ///
    /// - Parameter scratch: memory of `scratchSize(bytesCount:)` bytes that outlives the table.
    init(bytesCount: Int, scratch: UnsafeMutableRawPointer) {
        let count = Self.slotsCount(bytesCount: bytesCount)
        hashShift = UInt64(count.leadingZeroBitCount + 1)
        lastSlot = count - 1
        slots = Self.clearedSlots(count, at: scratch)
        names = InternedNames(capacity: count / 2)
    }

    deinit { if ownsSlots { slots.deallocate() } }

    /// Returns the interned names and leaves the table without them.
    mutating func takeNames() -> InternedNames {
        var taken = InternedNames()
        swap(&taken, &names)
        return taken
    }

    @inline(always)
    mutating func id(of name: NameToken, in text: IndexedBytes) -> Int32 {
        let slot = slots[hash(name.key)]
        guard _fastPath(slot.key == name.key) else { return idSlowPath(name, in: text) }
        return slot.id
    }

    /// Looks up a name that is not in its home slot: it is in a later slot, it has more than 16
    /// bytes, or it is new and gets an ID.
    @inline(never)
    private mutating func idSlowPath(_ name: NameToken, in text: IndexedBytes) -> Int32 {
        let key = name.key.tableKey
        var index = hash(name.key)
        while slots[index].key.low != 0 {
            let slot = slots[index]
            if slot.key == key, !key.isHash || names.isSame(slot.id, name, in: text) {
                return slot.id
            }
            index = next(index)
        }
        let id = names.append(name)
        slots[index] = Slot(key: key, id: id)
        if names.count > lastSlot >> 1 { grow() }
        return id
    }

    @inline(always)
    private func hash(_ key: NameKey) -> Int {
        let mixed = key.low &* lowMultiplier &+ key.high &* highMultiplier
        return Int(truncatingIfNeeded: mixed &>> hashShift)
    }

    @inline(always)
    private func next(_ index: Int) -> Int { (index &+ 1) & lastSlot }

    private static func clearedSlots(
        _ count: Int, at memory: UnsafeMutableRawPointer
    ) -> UnsafeMutablePointer<Slot> {
        // Filling raw bytes with zeros compiles to `memset`.
        memory.initializeMemory(
            as: UInt8.self, repeating: 0, count: count * MemoryLayout<Slot>.stride)
        return memory.bindMemory(to: Slot.self, capacity: count)
    }

    @inline(never)
    private mutating func grow() {
        let old = UnsafeMutableBufferPointer(start: slots, count: lastSlot + 1)
        defer { if ownsSlots { old.deallocate() } else { ownsSlots = true } }
        let count = 4 * old.count
        hashShift -= 2
        lastSlot = count - 1
        slots = Self.clearedSlots(
            count, at: .allocate(byteCount: count * MemoryLayout<Slot>.stride, alignment: 8))
        names.grow(to: count / 2)
        for slot in old where slot.key.low != 0 {
            var index = hash(slot.key.tableKey)
            while slots[index].key.low != 0 { index = next(index) }
            slots[index] = slot
        }
    }
}
