/// The nodes of a tree in one contiguous allocation. The parser fills it; afterwards it is
/// read-only and can be shared between threads.
///
/// A node is stored before its children are parsed, and its `end` and `next` are set after them. An
/// array would check uniqueness and bounds at each of these writes. Here, an `Index` comes only
/// from `open` or `append`, so it is always in bounds and needs no check. The only exception is
/// `none`, which debug builds check for.
struct Nodes: ~Copyable, @unchecked Sendable {
    /// The index of an existing node.
    struct Index: Equatable {
        fileprivate let rawValue: Int
    }

    private var storage: UnsafeMutablePointer<Node>
    private var capacity: Int
    private var usedCount = 0
    /// The node that was entered last and has not been left. While a node is entered, its `next` is
    /// the index of the enclosing one, so the entered nodes form a stack.
    private(set) var innermost = Self.none

    /// The value of `innermost` when no node is entered.
    static let none = Index(rawValue: -1)

    init(capacity: Int) {
        self.capacity = capacity
        storage = .allocate(capacity: capacity)
    }

    deinit { storage.deallocate() }

    @inline(always)
    var count: Int32 { Int32(truncatingIfNeeded: usedCount) }

    subscript(index: Int32) -> Node {
        @inline(always)
        get {
            precondition(index >= 0 && index < count, "node index out of bounds")
            return storage[Int(index)]
        }
    }

    subscript(index: Index) -> Node {
        @inline(always)
        get {
            assert(index != Self.none, "`none` is not the index of a node")
            return storage[index.rawValue]
        }
        @inline(always)
        _modify {
            assert(index != Self.none, "`none` is not the index of a node")
            yield &storage[index.rawValue]
        }
    }

    /// Appends a node. Nodes that are opened before it is closed become its descendants.
    @inline(always)
    mutating func open(_ kind: NodeKind, detail: UInt8 = 0, start: Int) -> Index {
        if _slowPath(usedCount == capacity) { grow() }
        let index = Index(rawValue: usedCount)
        (storage + usedCount).initialize(
            to: Node(kind: kind, detail: detail, start: Int32(truncatingIfNeeded: start)))
        usedCount &+= 1
        return index
    }

    /// Appends a closed node that consists of a name. It can be closed again later to extend it.
    @inline(always)
    mutating func append(_ kind: NodeKind, _ name: InternedName, start: Int, end: Int) -> Index {
        if _slowPath(usedCount == capacity) { grow() }
        let index = Index(rawValue: usedCount)
        usedCount &+= 1
        (storage + index.rawValue).initialize(
            to: Node(
                kind: kind, name: name.id, nameStart: name.start,
                start: Int32(truncatingIfNeeded: start), end: Int32(truncatingIfNeeded: end),
                next: count))
        return index
    }

    @inline(always)
    mutating func close(_ index: Index, end: Int) {
        self[index].end = Int32(truncatingIfNeeded: end)
        self[index].next = count
    }

    /// Whether an open node has children.
    @inline(always)
    func hasChildren(_ index: Index) -> Bool { usedCount > index.rawValue + 1 }

    /// Pushes an open node on the stack of entered nodes.
    @inline(always)
    mutating func enter(_ index: Index) {
        self[index].next = Int32(truncatingIfNeeded: innermost.rawValue)
        innermost = index
    }

    /// Pops the innermost entered node. The caller must still close it.
    @inline(always)
    mutating func leave() -> Index {
        precondition(innermost != Self.none, "`leave` without `enter`")
        let index = innermost
        innermost = Index(rawValue: Int(self[index].next))
        return index
    }

    /// Opens and enters a selection set. While it is entered, its `name` field holds the index of
    /// its owner.
    @inline(always)
    mutating func enterSelectionSet(of owner: Index, start: Int) {
        let set = open(.selectionSet, start: start)
        self[set].name = Int32(truncatingIfNeeded: owner.rawValue)
        enter(set)
    }

    /// Leaves and closes the innermost selection set and closes its owner.
    @inline(always)
    mutating func leaveSelectionSet(end: Int) {
        let set = leave()
        let owner = Index(rawValue: Int(self[set].name))
        self[set].name = -1
        close(set, end: end)
        close(owner, end: end)
    }

    @inline(never)
    private mutating func grow() {
        let larger = UnsafeMutablePointer<Node>.allocate(capacity: 2 * capacity)
        larger.moveInitialize(from: storage, count: usedCount)
        storage.deallocate()
        storage = larger
        capacity *= 2
    }
}
