/// The nodes of a tree in one piece of memory: written in whatever order by the parser, then only read.
///
/// A node takes its place before what is below it is read, and is known whole only behind it. An array would check its own
/// uniqueness and its bounds for every number that is written. Here a place is only had from a node that was put there, so
/// it is always there; all but `outside`, which builds for tests check.
struct Nodes: ~Copyable, @unchecked Sendable {
    /// The place of a node that is there.
    struct Place: Equatable {
        fileprivate let index: Int
    }

    private var storage: UnsafeMutablePointer<Node>
    private var capacity: Int
    private var taken = 0
    /// Of the nodes that were entered and not left, the last one. The `next` of each is the one around it.
    private(set) var innermost = Self.outside

    /// Around all nodes; no place of a node.
    static let outside = Place(index: -1)

    init(capacity: Int) {
        self.capacity = capacity
        storage = .allocate(capacity: capacity)
    }

    deinit { storage.deallocate() }

    @inline(always)
    var count: Int32 { Int32(truncatingIfNeeded: taken) }

    subscript(index: Int32) -> Node {
        @inline(always)
        get {
            precondition(index >= 0 && index < count, "a node that is not there")
            return storage[Int(index)]
        }
    }

    subscript(place: Place) -> Node {
        @inline(always)
        get {
            assert(place != Self.outside, "no node is around the others")
            return storage[place.index]
        }
        @inline(always)
        _modify {
            assert(place != Self.outside, "no node is around the others")
            yield &storage[place.index]
        }
    }

    /// A new node, the next of its parent; what is opened until it is closed is below it.
    @inline(always)
    mutating func open(_ kind: NodeKind, detail: UInt8 = 0, start: Int) -> Place {
        if _slowPath(taken == capacity) { grow() }
        let place = Place(index: taken)
        (storage + taken).initialize(
            to: Node(kind: kind, detail: detail, start: Int32(truncatingIfNeeded: start)))
        taken &+= 1
        return place
    }

    /// A new node that is its name and nothing else, unless it is closed anew.
    @inline(always)
    mutating func append(_ kind: NodeKind, _ name: NumberedName, start: Int, end: Int) -> Place {
        if _slowPath(taken == capacity) { grow() }
        let place = Place(index: taken)
        taken &+= 1
        (storage + place.index).initialize(
            to: Node(
                kind: kind, name: name.number, nameStart: name.start,
                start: Int32(truncatingIfNeeded: start), end: Int32(truncatingIfNeeded: end),
                next: count))
        return place
    }

    @inline(always)
    mutating func close(_ place: Place, end: Int) {
        self[place].end = Int32(truncatingIfNeeded: end)
        self[place].next = count
    }

    /// Whether anything is below a node that is open.
    @inline(always)
    func hasChildren(_ place: Place) -> Bool { taken > place.index + 1 }

    /// Keeps an open node in mind, until `leave`, as the one that is read.
    @inline(always)
    mutating func enter(_ place: Place) {
        self[place].next = Int32(truncatingIfNeeded: innermost.index)
        innermost = place
    }

    /// The innermost of the nodes that were entered, which is still to be closed.
    @inline(always)
    mutating func leave() -> Place {
        precondition(innermost != Self.outside, "left more nodes than were entered")
        let place = innermost
        innermost = Place(index: Int(self[place].next))
        return place
    }

    /// Opens and enters a selection set; until it is left, its name is the place of its owner.
    @inline(always)
    mutating func enterSelectionSet(of owner: Place, start: Int) {
        let set = open(.selectionSet, start: start)
        self[set].name = Int32(truncatingIfNeeded: owner.index)
        enter(set)
    }

    /// Closes the innermost selection set, and its owner with it.
    @inline(always)
    mutating func leaveSelectionSet(end: Int) {
        let set = leave()
        let owner = Place(index: Int(self[set].name))
        self[set].name = -1
        close(set, end: end)
        close(owner, end: end)
    }

    @inline(never)
    private mutating func grow() {
        let larger = UnsafeMutablePointer<Node>.allocate(capacity: 2 * capacity)
        larger.moveInitialize(from: storage, count: taken)
        storage.deallocate()
        storage = larger
        capacity *= 2
    }
}
