/// The statements prepared on one connection, as a least-recently-used cache of their names.
///
/// `indices` maps a key to its entry. The entries form a doubly linked list through the array indices
/// `newer` and `older`, from `newest` to `oldest`; -1 ends the list. `use` moves an entry to the front,
/// and `evict` removes the last one, both in constant time.
struct PreparedStatements {
    /// Identifies a statement prepared for one list of parameter types.
    struct Key: Hashable, Sendable {
        let statement: UInt128
        let signature: UInt64

        /// The name on the server: at most 50 of the 63 characters that PostgreSQL keeps.
        ///
        /// It follows from the text of the statement and the types of its parameters. A connection pooler may give this
        /// client a session in which another client has prepared statements. A name then means the same statement or none,
        /// but never a different one.
        var name: String {
            "b\(String(statement, radix: 16))_\(String(signature, radix: 16))"
        }
    }

    private struct Entry {
        let key: Key
        let name: String
        var newer: Int
        var older: Int
    }

    private let capacity: Int
    private var indices: [Key: Int] = [:]
    private var entries: [Entry] = []
    private var freeIndices: [Int] = []
    private var newest = -1
    private var oldest = -1

    init(capacity: Int) {
        self.capacity = max(1, capacity)
    }

    var count: Int { indices.count }

    /// Marks the statement as most recently used and returns its name on the server.
    ///
    /// `isNew` means that the caller must prepare it under that name first.
    mutating func use(_ key: Key) -> (name: String, isNew: Bool) {
        if let index = indices[key] {
            if index != newest {
                unlink(index)
                linkAsNewest(index)
            }
            return (entries[index].name, false)
        }
        let entry = Entry(key: key, name: key.name, newer: -1, older: -1)
        let index: Int
        if let free = freeIndices.popLast() {
            index = free
            entries[index] = entry
        } else {
            index = entries.count
            entries.append(entry)
        }
        indices[key] = index
        linkAsNewest(index)
        return (entry.name, true)
    }

    /// Forgets a statement that the server does not have or should not keep.
    ///
    /// - Returns: The name it had, or nil if it was not known.
    @discardableResult
    mutating func forget(_ key: Key) -> String? {
        guard let index = indices.removeValue(forKey: key) else { return nil }
        unlink(index)
        freeIndices.append(index)
        return entries[index].name
    }

    /// Forgets the least recently used statement if there are more than `capacity`.
    ///
    /// - Returns: The name to deallocate on the server, or nil if nothing had to be evicted.
    mutating func evict() -> String? {
        guard indices.count > capacity, oldest >= 0 else { return nil }
        return forget(entries[oldest].key)
    }

    private mutating func linkAsNewest(_ index: Int) {
        entries[index].newer = -1
        entries[index].older = newest
        if newest >= 0 { entries[newest].newer = index }
        newest = index
        if oldest < 0 { oldest = index }
    }

    private mutating func unlink(_ index: Int) {
        let (newer, older) = (entries[index].newer, entries[index].older)
        if newer >= 0 { entries[newer].older = older } else { newest = older }
        if older >= 0 { entries[older].newer = newer } else { oldest = newer }
    }
}
