/// Learns which items speak for which: a sparse linear model, like EASE and SLIM, one small problem for each item.
///
/// An item's candidates are the `candidatesMax` others that most of its readers share, by shrunk cosine. A
/// ridge regression over them alone finds how much each speaks for it when the others are known too,
/// which cosine cannot tell. What everybody likes tells little of one reader, so its links are weaker than the
/// regression finds. Work and memory for an item are bounded whatever the catalogue is.
package struct SimilarItems {
    /// How much liking an item speaks for another one.
    package struct Link: Sendable, Equatable {
        package let from: Int32
        package let to: Int32
        package let weight: Float
    }

    private static let candidatesMax = 100
    /// Added to each norm, so that a few readers alone do not make two items alike.
    private static let shrinkage: Float = 10
    private static let ridge: Float = 150
    /// Liked by this share of the readers, an item says 0.7 of what it would; by four times as many, less than half.
    private static let commonShare: Float = 0.05

    private let signals: Signals
    // Scratch of all items; what is touched is cleared again.
    private var counts: [Float]
    private var norms: [Float]
    private var place: [Int32]
    private var isGathered: [Bool]

    package init(_ signals: Signals) {
        self.signals = signals
        counts = [Float](repeating: 0, count: signals.itemCount)
        place = [Int32](repeating: -1, count: signals.itemCount)
        isGathered = [Bool](repeating: false, count: max(0, signals.readerCount))
        norms = (0..<signals.itemCount).map { item in
            signals.readers(of: Int32(item)).reduce(0) { $0 + $1.weight * $1.weight }
        }
    }

    /// What speaks for an item, or against it where the weight is below 0; in no order.
    package mutating func links(to item: Int32) -> [Link] {
        let candidates = candidates(of: item)
        let size = candidates.count
        guard size > 0 else { return [] }
        var (gram, right) = normalEquations(candidates, item)
        for index in 0..<size { gram[index * size + index] += Self.ridge }
        solve(&gram, &right)
        return zip(candidates, right).compactMap { candidate, weight in
            weight == 0
                ? nil : Link(from: candidate, to: item, weight: weight * rarity(of: candidate))
        }
    }

    /// Over the root of its readers, as cosine does it: from 1, for an item that few like, down.
    private func rarity(of item: Int32) -> Float {
        let share = signals.totals[Int(item)] / Float(signals.readerCount)
        return (Self.commonShare / (Self.commonShare + share)).squareRoot()
    }

    private mutating func candidates(of item: Int32) -> [Int32] {
        var touched: [Int32] = []
        for reader in signals.readers(of: item) {
            for other in signals.items(of: reader.id) where other.id != item {
                if counts[Int(other.id)] == 0 { touched.append(other.id) }
                counts[Int(other.id)] += reader.weight * other.weight
            }
        }
        let norm = norms[Int(item)]
        var scored = touched.map { other in
            let root = (norm * norms[Int(other)]).squareRoot()
            return (item: other, score: counts[Int(other)] / (root + Self.shrinkage))
        }
        for other in touched { counts[Int(other)] = 0 }
        // Equal scores in the order of their numbers: the same signals give the same links.
        scored.sort { ($1.score, $0.item) < ($0.score, $1.item) }
        return scored.prefix(Self.candidatesMax).map(\.item)
    }

    /// The weights that candidates share among themselves, row by row, and with the item.
    private mutating func normalEquations(_ candidates: [Int32], _ item: Int32) -> (
        [Float], [Float]
    ) {
        let size = candidates.count
        var gram = [Float](repeating: 0, count: size * size)
        var right = [Float](repeating: 0, count: size)
        for (index, candidate) in candidates.enumerated() { place[Int(candidate)] = Int32(index) }
        var gathered: [Int32] = []
        var own: [(place: Int, weight: Float)] = []
        for candidate in candidates {
            for reader in signals.readers(of: candidate) where !isGathered[Int(reader.id)] {
                isGathered[Int(reader.id)] = true
                gathered.append(reader.id)
                own.removeAll(keepingCapacity: true)
                var opinion: Float = 0
                for entry in signals.items(of: reader.id) {
                    if entry.id == item { opinion = entry.weight }
                    let place = place[Int(entry.id)]
                    if place >= 0 { own.append((Int(place), entry.weight)) }
                }
                for (row, weight) in own {
                    right[row] += weight * opinion
                    for (column, other) in own { gram[row * size + column] += weight * other }
                }
            }
        }
        for reader in gathered { isGathered[Int(reader)] = false }
        for candidate in candidates { place[Int(candidate)] = -1 }
        return (gram, right)
    }
}

/// Solves `matrix * x = right` for a symmetric matrix whose eigenvalues are above 0, by Cholesky's
/// decomposition; both are overwritten, `right` with the solution.
func solve(_ matrix: inout [Float], _ right: inout [Float]) {
    let size = right.count
    matrix.withUnsafeMutableBufferPointer { m in
        for row in 0..<size {
            for column in 0...row {
                var sum = m[row * size + column]
                for k in 0..<column { sum -= m[row * size + k] * m[column * size + k] }
                m[row * size + column] =
                    row == column ? sum.squareRoot() : sum / m[column * size + column]
            }
        }
        for row in 0..<size {
            for k in 0..<row { right[row] -= m[row * size + k] * right[k] }
            right[row] /= m[row * size + row]
        }
        for row in (0..<size).reversed() {
            for k in (row + 1)..<size { right[row] -= m[k * size + row] * right[k] }
            right[row] /= m[row * size + row]
        }
    }
}
