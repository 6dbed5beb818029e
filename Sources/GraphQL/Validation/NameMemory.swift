/// What names of a document mean in places of the schema, remembered: a name that comes again in the same place, such
/// as a field of the same type, costs a look at one slot and no hash of its text.
///
/// Nothing is searched: what comes later takes the slot of what was there, so a miss means to look it up.
struct NameMemory<Meaning> {
    private struct Entry {
        let place: ObjectIdentifier
        let name: NameID
        let meaning: Meaning
    }

    private static var slotsCount: Int { 128 }
    private var slots: [Entry?] = []

    /// - Parameter place: a definition of the schema, which is there as long as the memory.
    subscript(name: NameID, place: AnyObject) -> Meaning? {
        @inline(__always)
        get {
            guard !slots.isEmpty, let entry = slots[slot(name, ObjectIdentifier(place))],
                entry.name == name, entry.place == ObjectIdentifier(place)
            else { return nil }
            return entry.meaning
        }
        set {
            if slots.isEmpty { slots = Array(repeating: nil, count: Self.slotsCount) }
            let place = ObjectIdentifier(place)
            slots[slot(name, place)] = newValue.map {
                Entry(place: place, name: name, meaning: $0)
            }
        }
    }

    @inline(__always)
    private func slot(_ name: NameID, _ place: ObjectIdentifier) -> Int {
        // Objects stand at multiples of 16.
        let mixed = UInt(bitPattern: place) / 16 &* 31 &+ UInt(truncatingIfNeeded: name.rawValue)
        return Int(mixed % UInt(Self.slotsCount))
    }
}
