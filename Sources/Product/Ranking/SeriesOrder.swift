/// Which volume of a series must come before which, so that a reader never gets volume 3 before volume 2.
///
/// A volume waits for every earlier volume among the candidates, except for volumes that the reader has passed: those up to
/// the last volume on which the reader has given an opinion. Only the numbered volumes from 1 on are waited for. Short stories
/// and prequels, such as volume 1.5 and volume 0, and books without a number may come at any time after the volume
/// that they follow.
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
            if let position = book.seriesPosition, position > passed[book.series] ?? -.infinity {
                volumes[book.series, default: []].append((position, index))
            }
        }
        for series in volumes.values where series.count > 1 { chain(series) }
    }

    /// Returns the volume that must come before a book, if any. That volume may have a predecessor, too.
    func predecessor(of book: Int) -> Int? { predecessors[book] }

    private mutating func chain(_ volumes: [(position: Float, index: Int)]) {
        // Volumes with the same number do not wait for each other. The following ones wait for the first in `volumes`.
        let sorted = volumes.sorted { ($0.position, $0.index) < ($1.position, $1.index) }
        var last: (position: Float, index: Int)?
        var before: (position: Float, index: Int)?
        for volume in sorted {
            if let last, last.position < volume.position { before = last }
            predecessors[volume.index] = before?.index
            let isNumbered = volume.position >= 1 && volume.position == volume.position.rounded()
            if isNumbered && volume.position > last?.position ?? 0 { last = volume }
        }
    }
}
