/// A direct-mapped cache of values for pairs of a name and a scope, such as a field name and its
/// parent type.
///
/// A lookup inspects one slot and does not hash the text of the name. There is no probing: an
/// insertion overwrites the slot, so after a miss, the caller must compute the value.
struct NameCache<Value> {
    private struct Slot {
        var scope: ObjectIdentifier?
        var name = NameID(rawValue: -1)
        /// The index of the value in `values`.
        var index = 0
    }

    private var slots: [Slot] = []
    private var values: [Value] = []

    /// - Parameter scope: a definition of the schema, which must outlive the cache.
    @inline(__always)
    func value(for name: NameID, in scope: AnyObject) -> Value? {
        let scope = ObjectIdentifier(scope)
        guard !slots.isEmpty else { return nil }
        let slot = slots[index(name, scope)]
        return slot.name == name && slot.scope == scope ? values[slot.index] : nil
    }

    mutating func insert(_ value: Value, for name: NameID, in scope: AnyObject) {
        let scope = ObjectIdentifier(scope)
        if slots.isEmpty { slots = Array(repeating: Slot(), count: 256) }
        let index = index(name, scope)
        if slots[index].scope == nil {
            slots[index].index = values.count
            values.append(value)
        } else {
            values[slots[index].index] = value
        }
        slots[index].scope = scope
        slots[index].name = name
    }

    @inline(__always)
    private func index(_ name: NameID, _ scope: ObjectIdentifier) -> Int {
        // Objects are allocated at multiples of 16, so the lowest four bits are the same for all.
        let mixed = UInt(bitPattern: scope) / 16 &* 31 &+ UInt(truncatingIfNeeded: name.rawValue)
        return Int(mixed & 255)
    }
}
