/// Learns how much liking one item predicts liking another: a sparse linear model in the manner of EASE and
/// SLIM, with one small regression per item.
///
/// For each target item:
/// 1. The candidates are the `candidatesMax` items that share most of its readers, by shrunk cosine:
///    `dot(a, b) / (|a| * |b| + shrinkage)`, where the vectors are the readers' weights.
/// 2. A ridge regression over the candidates predicts the readers' weights of the target. With `X` as the
///    matrix of the candidates' weights and `y` as those of the target, it solves
///    `(X'X + ridge * I) w = X'y`. Unlike cosine, it does not count the same evidence several times when
///    candidates resemble each other.
/// 3. Each coefficient is multiplied by the candidate's rarity, because liking a very common item says little
///    about a reader.
///
/// Work and memory per item are bounded, whatever the size of the catalog.
///
/// **Example.** Most readers of a series' third volume liked volumes 1 and 2. By cosine both predict it equally
/// well, and a reader of both would count twice. The regression divides the weight between the two.
package struct SimilarItems {
    /// A link: liking item `from` predicts liking item `to` with this weight, or disliking if it is negative.
    package struct Link: Sendable, Equatable {
        package let from: Int32
        package let to: Int32
        package let weight: Float
    }

    private static let candidatesMax = 100
    /// Added to the product of the norms, so that items with few readers do not appear similar by chance.
    private static let shrinkage: Float = 10
    private static let ridge: Float = 150
    /// The share of readers at which an item's rarity is 0.7. At four times this share it is 0.45.
    private static let commonShare: Float = 0.05

    private let signals: Signals
    // Scratch buffers with one element per item or reader; each use resets the elements it has changed.
    private var counts: [Float]
    private var norms: [Float]
    private var candidateIndex: [Int32]
    private var isGathered: [Bool]

    package init(_ signals: Signals) {
        self.signals = signals
        counts = [Float](repeating: 0, count: signals.itemCount)
        candidateIndex = [Int32](repeating: -1, count: signals.itemCount)
        isGathered = [Bool](repeating: false, count: max(0, signals.readerCount))
        norms = (0..<signals.itemCount).map { item in
            signals.readers(of: Int32(item)).reduce(0) { $0 + $1.weight * $1.weight }
        }
    }

    /// Returns the links to an item, in no particular order. Negative weights speak against the item.
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

    /// Returns `sqrt(commonShare / (commonShare + share))`, which decreases from 1 with the share of readers.
    private func rarity(of item: Int32) -> Float {
        let share = signals.totals[Int(item)] / Float(signals.readerCount)
        return (Self.commonShare / (Self.commonShare + share)).squareRoot()
    }

    /// Returns the most similar items by shrunk cosine, at most `candidatesMax`, most similar first.
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
        // Ties are broken by item number, so that equal signals give equal links.
        scored.sort { ($1.score, $0.item) < ($0.score, $1.item) }
        return scored.prefix(Self.candidatesMax).map(\.item)
    }

    /// Returns `X'X`, row by row, and `X'y` of the regression for an item.
    private mutating func normalEquations(_ candidates: [Int32], _ item: Int32) -> (
        [Float], [Float]
    ) {
        let size = candidates.count
        var gram = [Float](repeating: 0, count: size * size)
        var right = [Float](repeating: 0, count: size)
        for (index, candidate) in candidates.enumerated() {
            candidateIndex[Int(candidate)] = Int32(index)
        }
        var gathered: [Int32] = []
        var own: [(index: Int, weight: Float)] = []
        for candidate in candidates {
            for reader in signals.readers(of: candidate) where !isGathered[Int(reader.id)] {
                isGathered[Int(reader.id)] = true
                gathered.append(reader.id)
                own.removeAll(keepingCapacity: true)
                var targetWeight: Float = 0
                for entry in signals.items(of: reader.id) {
                    if entry.id == item { targetWeight = entry.weight }
                    let index = candidateIndex[Int(entry.id)]
                    if index >= 0 { own.append((Int(index), entry.weight)) }
                }
                for (row, weight) in own {
                    right[row] += weight * targetWeight
                    for (column, other) in own { gram[row * size + column] += weight * other }
                }
            }
        }
        for reader in gathered { isGathered[Int(reader)] = false }
        for candidate in candidates { candidateIndex[Int(candidate)] = -1 }
        return (gram, right)
    }
}

/// Solves `matrix * x = right` by Cholesky decomposition, for a symmetric positive definite matrix.
///
/// Both arguments are overwritten; `right` becomes the solution.
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
