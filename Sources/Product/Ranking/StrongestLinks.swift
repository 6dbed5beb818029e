/// Keeps the strongest links from each item, by absolute weight. Memory grows with the number of items.
///
/// Links are appended to a list per item. When a list reaches twice `linksMax`, it is sorted and cut to
/// `linksMax`, so that an insertion takes amortized logarithmic time.
package struct StrongestLinks {
    private struct Neighbour {
        let to: Int32
        let weight: Float
    }

    /// The maximum number of links per item.
    package static let linksMax = 50

    /// The links from each item, at most twice `linksMax`.
    private var neighbours: [[Neighbour]]

    package init(itemCount: Int) { neighbours = [[Neighbour]](repeating: [], count: itemCount) }

    package mutating func insert(_ link: SimilarItems.Link) {
        let from = Int(link.from)
        neighbours[from].append(Neighbour(to: link.to, weight: link.weight))
        if neighbours[from].count == 2 * Self.linksMax {
            neighbours[from] = Self.strongest(neighbours[from])
        }
    }

    /// Returns the links from an item, strongest first.
    package func links(of item: Int32) -> [SimilarItems.Link] {
        Self.strongest(neighbours[Int(item)]).map {
            .init(from: item, to: $0.to, weight: $0.weight)
        }
    }

    private static func strongest(_ neighbours: [Neighbour]) -> [Neighbour] {
        Array(
            neighbours.sorted { (abs($1.weight), $0.to) < (abs($0.weight), $1.to) }
                .prefix(linksMax))
    }
}
