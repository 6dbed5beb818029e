/// What names of a document mean in places of the schema, remembered: a name that comes again in the same place, such
/// as a field of the same type, costs a look at one slot and no hash of its text.
///
/// Nothing is searched: what comes later takes the slot of what was there, so a miss means to look it up.
struct NameMemory<Meaning> {
    private struct Slot {
        var place: ObjectIdentifier?
        var name = NameID(rawValue: -1)
        /// Of the meaning in `meanings`.
        var index = 0
    }

    private var slots: [Slot] = []
    private var meanings: [Meaning] = []

    /// - Parameter place: a definition of the schema, which is there as long as the memory.
    @inline(__always)
    func meaning(of name: NameID, in place: AnyObject) -> Meaning? {
        let place = ObjectIdentifier(place)
        guard !slots.isEmpty else { return nil }
        let slot = slots[index(name, place)]
        return slot.name == name && slot.place == place ? meanings[slot.index] : nil
    }

    mutating func remember(_ meaning: Meaning, of name: NameID, in place: AnyObject) {
        let place = ObjectIdentifier(place)
        if slots.isEmpty { slots = Array(repeating: Slot(), count: 256) }
        let index = index(name, place)
        if slots[index].place == nil {
            slots[index].index = meanings.count
            meanings.append(meaning)
        } else {
            meanings[slots[index].index] = meaning
        }
        slots[index].place = place
        slots[index].name = name
    }

    @inline(__always)
    private func index(_ name: NameID, _ place: ObjectIdentifier) -> Int {
        // Objects stand at multiples of 16.
        let mixed = UInt(bitPattern: place) / 16 &* 31 &+ UInt(truncatingIfNeeded: name.rawValue)
        return Int(mixed & 255)
    }
}
