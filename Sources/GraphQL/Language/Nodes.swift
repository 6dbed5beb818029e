/// The nodes of a tree in one piece of memory: written in whatever order by the parser, then only read.
///
/// A node takes its place before what is below it is read, and is known whole only behind it. An array would check its own
/// uniqueness and its bounds for every number that is written. Here a place is only had from `open`, so it is always there;
/// all but `outside`, which builds for tests check.
struct Nodes: ~Copyable, @unchecked Sendable {
    /// The place of a node that was opened.
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

    @inline(__always)
    var count: Int32 { Int32(truncatingIfNeeded: taken) }

    subscript(index: Int32) -> Node {
        @inline(__always)
        get {
            precondition(index >= 0 && index < count, "a node that is not there")
            return storage[Int(index)]
        }
    }

    subscript(place: Place) -> Node {
        @inline(__always)
        get {
            assert(place != Self.outside, "no node is around the others")
            return storage[place.index]
        }
        @inline(__always)
        _modify {
            assert(place != Self.outside, "no node is around the others")
            yield &storage[place.index]
        }
    }

    /// A new node, the next of its parent; what is opened until it is closed is below it.
    @inline(__always)
    mutating func open(_ kind: NodeKind, detail: UInt8 = 0, start: Int32) -> Place {
        if _slowPath(taken == capacity) { grow() }
        let place = Place(index: taken)
        (storage + taken).initialize(to: Node(kind: kind, detail: detail, start: start))
        taken &+= 1
        return place
    }

    @inline(__always)
    mutating func close(_ place: Place, end: Int32) {
        self[place].end = end
        self[place].next = count
    }

    /// Whether anything is below a node that is open.
    @inline(__always)
    func hasChildren(_ place: Place) -> Bool { taken > place.index + 1 }

    /// Keeps an open node in mind, until `leave`, as the one that is read.
    @inline(__always)
    mutating func enter(_ place: Place) {
        self[place].next = Int32(truncatingIfNeeded: innermost.index)
        innermost = place
    }

    /// The innermost of the nodes that were entered, which is still to be closed.
    @inline(__always)
    mutating func leave() -> Place {
        precondition(innermost != Self.outside, "left more nodes than were entered")
        let place = innermost
        innermost = Place(index: Int(self[place].next))
        return place
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
