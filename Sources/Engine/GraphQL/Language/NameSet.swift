/// The ID of an interned name. Equal names of one syntax tree have equal IDs.
struct NameID: Hashable, RawRepresentable {
    let rawValue: Int32
}

/// A set of the names of one syntax tree that remembers the order of insertion.
///
/// `removeAll` takes constant time: instead of clearing `positions`, it raises `base` above every
/// stored position. One set can therefore be reused for every selection set of a document.
struct NameSet {
    /// Indexed by name ID: the position of the last insertion, counted over the whole lifetime of
    /// the set. -1 for a name that was never inserted.
    private var positions: [Int] = []
    /// Positions below this one were stored before the last `removeAll` and do not count.
    private var base = 0
    private(set) var count = 0

    /// Empties the set. Must be called once before the first insertion.
    mutating func removeAll(namesCount: Int) {
        if positions.isEmpty { positions = Array(repeating: -1, count: namesCount) }
        base += count
        count = 0
    }

    func contains(_ name: NameID) -> Bool { positions[Int(name.rawValue)] >= base }

    /// Returns the number of insertions that preceded the last insertion of `name`, repeated
    /// insertions included, or nil if the set does not contain `name`.
    func position(of name: NameID) -> Int? {
        let position = positions[Int(name.rawValue)]
        return position >= base ? position - base : nil
    }

    /// Inserts a name, or moves it to the end if the set already contains it.
    ///
    /// - Returns: false if the set already contained the name.
    @discardableResult
    mutating func insert(_ name: NameID) -> Bool {
        let isNew = !contains(name)
        positions[Int(name.rawValue)] = base + count
        count += 1
        return isNew
    }
}
