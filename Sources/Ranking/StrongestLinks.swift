/// Each item's strongest links to others, of all that were inserted. Memory grows with the items.
package struct StrongestLinks {
    private struct Near {
        let to: Int32
        let weight: Float
    }

    /// Links that are kept of one item.
    package static let linksMax = 50

    /// By item, at most twice as many as are kept.
    private var nears: [[Near]]

    package init(itemCount: Int) { nears = [[Near]](repeating: [], count: itemCount) }

    package mutating func insert(_ link: SimilarItems.Link) {
        let from = Int(link.from)
        nears[from].append(Near(to: link.to, weight: link.weight))
        if nears[from].count == 2 * Self.linksMax { nears[from] = Self.strongest(nears[from]) }
    }

    /// Those of an item, strongest first.
    package func links(of item: Int32) -> [SimilarItems.Link] {
        Self.strongest(nears[Int(item)]).map { .init(from: item, to: $0.to, weight: $0.weight) }
    }

    private static func strongest(_ nears: [Near]) -> [Near] {
        Array(
            nears.sorted { (abs($1.weight), $0.to) < (abs($0.weight), $1.to) }.prefix(linksMax))
    }
}
