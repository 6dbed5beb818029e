/// The number of a name in its tree.
struct NameID: Hashable, RawRepresentable {
    let rawValue: Int32
}

/// Names of one tree, each with the place where it was inserted last.
///
/// Emptied without work, so that one set serves many places of a document, one after the other.
struct NameSet {
    /// By the name's number: its position, counted through all uses of the set.
    private var positions: [Int] = []
    /// The first position of this use.
    private var base = 0
    private(set) var count = 0

    /// Must be called before the first insertion.
    mutating func removeAll(namesCount: Int) {
        if positions.isEmpty { positions = Array(repeating: -1, count: namesCount) }
        base += count
        count = 0
    }

    func contains(_ name: NameID) -> Bool { positions[Int(name.rawValue)] >= base }

    /// How many were inserted before it, those that were known already counted again.
    func position(of name: NameID) -> Int? {
        let position = positions[Int(name.rawValue)]
        return position >= base ? position - base : nil
    }

    /// False where the name was in it already; then it has a new position.
    @discardableResult
    mutating func insert(_ name: NameID) -> Bool {
        let isNew = !contains(name)
        positions[Int(name.rawValue)] = base + count
        count += 1
        return isNew
    }
}
