/// The nodes of a tree in one piece of memory: written in whatever order by the parser, then only read.
///
/// A place is taken before what is below it is read and filled behind it, which an array would check twice for its own
/// uniqueness, for every node.
struct Nodes: ~Copyable, @unchecked Sendable {
    private var storage: UnsafeMutablePointer<Node>
    private var capacity: Int
    private(set) var count: Int32 = 0

    init(capacity: Int) {
        self.capacity = capacity
        storage = .allocate(capacity: capacity)
    }

    deinit { storage.deallocate() }

    subscript(index: Int32) -> Node {
        @inline(__always)
        get {
            precondition(index >= 0 && index < count, "a node that is not there")
            return storage[Int(index)]
        }
    }

    /// Takes the next place, which `fill` must fill.
    @inline(__always)
    mutating func take() -> Int32 {
        if Int(count) == capacity { grow() }
        count &+= 1
        return count &- 1
    }

    /// Writes the node of a place that was taken.
    @inline(__always)
    mutating func fill(_ place: Int32, with node: Node) {
        assert(place >= 0 && place < count, "a place that was not taken")
        storage[Int(place)] = node
    }

    @inline(never)
    private mutating func grow() {
        capacity *= 2
        let larger = UnsafeMutablePointer<Node>.allocate(capacity: capacity)
        larger.update(from: storage, count: Int(count))
        storage.deallocate()
        storage = larger
    }
}
