import NIOCore

/// A queue whose owners take turns.
///
/// **State.** Each owner has a first-in, first-out queue of its own. `turns` contains the owners that have elements, once each.
///
/// **Steps.** `removeFirst` asks the owners in turn. It removes the first element of the first owner that may go on, and that owner goes to
/// the end of `turns` if it has more. An owner whose first element must wait keeps its elements in order, and does not hold up the others.
///
/// **Example.** A appends 1,000 elements, and B one. They are removed in the order A1, B1, A2, A3, and so on.
struct FairQueue<Owner: Hashable, Element> {
    private var queues: [Owner: CircularBuffer<Element>] = [:]
    private var turns = CircularBuffer<Owner>()
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// All elements, in no particular order.
    var elements: some Sequence<Element> { queues.values.joined() }

    func count(of owner: Owner) -> Int { queues[owner]?.count ?? 0 }

    mutating func append(_ element: Element, of owner: Owner) {
        count += 1
        if queues[owner]?.append(element) == nil {
            queues[owner] = [element]
            turns.append(owner)
        }
    }

    /// Puts an element before the others of its owner, whose turn is next.
    mutating func prepend(_ element: Element, of owner: Owner) {
        count += 1
        if queues[owner]?.prepend(element) == nil {
            queues[owner] = [element]
        } else {
            turns.removeAll { $0 == owner }
        }
        turns.prepend(owner)
    }

    /// Removes the next element that may go on.
    ///
    /// - Parameter target: Returns where the first element of an owner goes; nil if it must wait.
    /// - Returns: The element and its target; nil if all owners must wait.
    mutating func removeFirst<Target>(
        where target: (Element) -> Target?
    ) -> (element: Element, target: Target)? {
        for _ in 0..<turns.count {
            let owner = turns.removeFirst()
            guard let element = queues[owner]?.first else { continue }
            guard let target = target(element) else {
                turns.append(owner)
                continue
            }
            _ = queues[owner]?.removeFirst()
            count -= 1
            if queues[owner]?.isEmpty == false { turns.append(owner) } else { queues[owner] = nil }
            return (element, target)
        }
        return nil
    }

    mutating func removeAll(where isRemoved: (Element) -> Bool) {
        for owner in turns { queues[owner]?.removeAll(where: isRemoved) }
        queues = queues.filter { !$0.value.isEmpty }
        turns.removeAll { queues[$0] == nil }
        count = queues.values.reduce(0) { $0 + $1.count }
    }

    mutating func removeAll() { self = FairQueue() }
}
