import NIOCore

/// A queue whose lanes take turns.
///
/// **State.** Each lane has a first-in, first-out queue of its own. `turns` contains the lanes that have elements, once each.
///
/// **Steps.** `removeFirst` asks the lanes in turn. It removes the first element of the first lane that may go on, and that lane goes to
/// the end of `turns` if it has more. Lanes that must wait keep their turns and the order of their elements, and do not hold up the others.
///
/// **Example.** Lane A appends 1,000 elements, and B one. They are removed in the order A1, B1, A2, A3, and so on.
struct FairQueue<Lane: Hashable, Element> {
    private var queues: [Lane: CircularBuffer<Element>] = [:]
    private var turns = CircularBuffer<Lane>()
    /// The lane that is always asked first.
    private let urgentLane: Lane
    private(set) var count = 0

    init(urgentLane: Lane) { self.urgentLane = urgentLane }

    var isEmpty: Bool { count == 0 }

    /// All elements, in no particular order.
    var elements: some Sequence<Element> { queues.values.joined() }

    func count(in lane: Lane) -> Int { queues[lane]?.count ?? 0 }

    mutating func append(_ element: Element, to lane: Lane) {
        count += 1
        guard queues[lane]?.append(element) == nil else { return }
        queues[lane] = [element]
        takeTurn(lane)
    }

    private mutating func takeTurn(_ lane: Lane) {
        if lane == urgentLane { turns.prepend(lane) } else { turns.append(lane) }
    }

    /// Puts an element before the others of its lane, whose turn is next.
    mutating func prepend(_ element: Element, to lane: Lane) {
        count += 1
        if queues[lane]?.prepend(element) == nil {
            queues[lane] = [element]
        } else {
            turns.removeAll { $0 == lane }
        }
        turns.prepend(lane)
    }

    /// Removes the next element that may go on.
    ///
    /// - Parameter target: Returns where the first element of a lane goes; nil if it must wait.
    /// - Returns: The element and its target; nil if all lanes must wait.
    mutating func removeFirst<Target>(
        where target: (Element) -> Target?
    ) -> (element: Element, target: Target)? {
        for index in turns.indices {
            let lane = turns[index]
            guard let element = queues[lane]?.first, let target = target(element) else { continue }
            _ = queues[lane]?.removeFirst()
            count -= 1
            turns.remove(at: index)
            if queues[lane]?.isEmpty == false { takeTurn(lane) } else { queues[lane] = nil }
            return (element, target)
        }
        return nil
    }

    /// Removes the newest element of the lane with the most elements.
    mutating func removeLastOfLongest() -> Element? {
        guard
            let index = turns.indices.max(by: { count(in: turns[$0]) < count(in: turns[$1]) })
        else { return nil }
        let lane = turns[index]
        count -= 1
        let element = queues[lane]?.removeLast()
        if queues[lane]?.isEmpty == true {
            queues[lane] = nil
            turns.remove(at: index)
        }
        return element
    }

    mutating func removeAll(where isRemoved: (Element) -> Bool) {
        for lane in turns { queues[lane]?.removeAll(where: isRemoved) }
        queues = queues.filter { !$0.value.isEmpty }
        turns.removeAll { queues[$0] == nil }
        count = queues.values.reduce(0) { $0 + $1.count }
    }

    mutating func removeAll() { self = FairQueue(urgentLane: urgentLane) }
}
