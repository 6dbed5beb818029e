/// Which volume of a series must come before which, so that a reader never gets volume 3 before volume 2.
///
/// A volume waits for every earlier volume among the candidates. Volumes that the reader has passed, those up to the last one on which the
/// reader has given an opinion, wait only for each other, and later ones do not wait for them. Only the numbered volumes from 1 on are
/// waited for (`BookTraits.volume`). Short stories, prequels, and books without a number may come at any time after the volume that they
/// follow.
struct SeriesOrder {
    /// The volume that must come before each book.
    private var predecessors: [Int?]
    /// The numbered volumes of each series in their order. Each one waits for the one before.
    private var chains: [[Int]] = []

    init(_ books: [BookTraits], _ signals: [ReaderSignal]) {
        var passed: [Int64: Float] = [:]
        for signal in signals where signal.traits.series != 0 {
            let series = signal.traits.series
            let position = signal.traits.seriesPosition ?? 0
            passed[series] = max(passed[series] ?? position, position)
        }
        predecessors = [Int?](repeating: nil, count: books.count)
        var volumes: [Int64: [(position: Float, index: Int)]] = [:]
        for (index, book) in books.enumerated() where book.series != 0 {
            guard let position = book.seriesPosition else { continue }
            volumes[book.series, default: []].append((position, index))
        }
        for (series, volumes) in volumes where volumes.count > 1 {
            let last = passed[series] ?? -.infinity
            chain(volumes.filter { $0.position <= last }, books)
            chain(volumes.filter { $0.position > last }, books)
        }
    }

    private mutating func chain(_ volumes: [(position: Float, index: Int)], _ books: [BookTraits]) {
        var chain: [(position: Float, index: Int)] = []
        for volume in volumes.sorted(by: <) {
            // Volumes with the same number do not wait for each other. The following ones wait for the first of them.
            let earlier = chain.last { $0.position < volume.position }
            predecessors[volume.index] = earlier?.index
            if books[volume.index].volume != nil, earlier?.index == chain.last?.index {
                chain.append(volume)
            }
        }
        chains.append(chain.map(\.index))
    }

    /// Returns the volume that must come before a book, if any. That volume may have a predecessor, too.
    func predecessor(of book: Int) -> Int? { predecessors[book] }

    /// Returns the scores, where the first volumes of a series have their mean score if that is higher than that of the first one alone, and
    /// the same for the following ones. Otherwise a volume with a low score would hold back the ones that many readers like. A volume with
    /// a high score does not make all before it as good, because it comes after them.
    ///
    /// **Example.** The scores 2, 4, 1, and 3 become 3, 3, 2, and 2.
    func averaged(_ scores: [Float]) -> [Float] {
        var averaged = scores
        for chain in chains {
            var rest = chain[...]
            while let first = rest.first {
                var best = (mean: scores[first], count: 1)
                var sum: Float = 0
                for (offset, index) in rest.enumerated() {
                    sum += scores[index]
                    let mean = sum / Float(offset + 1)
                    if mean > best.mean { best = (mean, offset + 1) }
                }
                for index in rest.prefix(best.count) { averaged[index] = best.mean }
                rest = rest.dropFirst(best.count)
            }
        }
        return averaged
    }
}

/// The last volumes of series among the cards so far. No earlier volume may follow them.
package struct LastVolumes {
    private var last: [Int64: Float] = [:]

    package init() {}

    /// Returns whether a later volume of the book's series came before.
    package func passed(_ book: BookTraits) -> Bool {
        guard let volume = book.volume, let last = last[book.series] else { return false }
        return volume < last
    }

    package mutating func append(_ book: BookTraits) {
        guard let volume = book.volume else { return }
        last[book.series] = max(last[book.series] ?? volume, volume)
    }
}
