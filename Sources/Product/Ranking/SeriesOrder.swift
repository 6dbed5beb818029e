/// Which volume of a series must come before which, so that a reader never gets volume 3 before volume 2.
///
/// A volume waits for every earlier volume among the candidates. Volumes that the reader has passed, those up to the last one on which the
/// reader has given an opinion, wait only for each other, and later ones do not wait for them. Only the numbered volumes from 1 on are
/// waited for (`BookTraits.volume`). Short stories, prequels, and books without a number may come at any time after the volume that they
/// follow.
struct SeriesOrder {
    /// The volume that must come before each book.
    private var predecessors: [Int?]

    init(_ books: [BookTraits], _ signals: [ReaderSignal]) {
        var passed: [Int32: Float] = [:]
        for signal in signals where signal.traits.series != 0 {
            let series = signal.traits.series
            let position = signal.traits.seriesPosition ?? 0
            passed[series] = max(passed[series] ?? position, position)
        }
        predecessors = [Int?](repeating: nil, count: books.count)
        var volumes: [Int32: [(position: Float, index: Int)]] = [:]
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

    /// Returns the volume that must come before a book, if any. That volume may have a predecessor, too.
    func predecessor(of book: Int) -> Int? { predecessors[book] }

    /// Returns the scores with that of each volume raised to the highest score of those that wait for it. Otherwise a
    /// volume with a low score would hold back the ones that many readers like.
    func raised(_ scores: [Float]) -> [Float] {
        var raised = scores
        for var index in scores.indices {
            let score = scores[index]
            while let earlier = predecessors[index], raised[earlier] < score {
                raised[earlier] = score
                index = earlier
            }
        }
        return raised
    }

    private mutating func chain(_ volumes: [(position: Float, index: Int)], _ books: [BookTraits]) {
        // Volumes with the same number do not wait for each other. The following ones wait for the first in `volumes`.
        var last: (position: Float, index: Int)?
        var before: (position: Float, index: Int)?
        for volume in volumes.sorted(by: { ($0.position, $0.index) < ($1.position, $1.index) }) {
            if let last, last.position < volume.position { before = last }
            predecessors[volume.index] = before?.index
            if books[volume.index].volume != nil, volume.position > last?.position ?? 0 {
                last = volume
            }
        }
    }
}

/// The last volumes of series among the cards so far. No earlier volume may follow them.
package struct LastVolumes {
    private var last: [Int32: Float] = [:]

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
