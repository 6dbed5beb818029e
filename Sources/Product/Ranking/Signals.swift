/// The readers' opinions of items, as a sparse matrix: at most one positive weight per reader and item.
///
/// Readers and items are numbered from 0. The matrix is stored twice, by reader and by item, in compressed
/// rows: the entries of row i are at `starts[i]..<starts[i + 1]`. Memory grows with the number of signals.
package struct Signals: Sendable {
    /// A reader's opinion of an item.
    package struct Signal: Sendable {
        package let reader: Int32
        package let item: Int32
        package let weight: Float

        package init(reader: Int32, item: Int32, weight: Float) {
            self.reader = reader
            self.item = item
            self.weight = weight
        }
    }

    /// An item of a reader, or a reader of an item, with the weight of the signal.
    struct Entry {
        let id: Int32
        let weight: Float
    }

    package let itemCount: Int
    /// The sum of the weights of all signals for each item, including those that exceed `max`.
    let totals: [Float]
    private let readerStarts: [Int]
    private let readerEntries: [Entry]
    private let itemStarts: [Int]
    private let itemEntries: [Entry]

    /// - Parameter signals: The signals, most important first. For each reader and each item only the first
    ///   `max` are used.
    package init(_ signals: [Signal], itemCount: Int, max: Int = 2000) {
        let readerCount = signals.reduce(0) { Swift.max($0, Int($1.reader) + 1) }
        var perReader = [Int](repeating: 0, count: readerCount)
        var perItem = [Int](repeating: 0, count: itemCount)
        var totals = [Float](repeating: 0, count: itemCount)
        let kept = signals.filter { signal in
            guard signal.weight > 0, signal.reader >= 0,
                (0..<itemCount).contains(Int(signal.item))
            else { return false }
            totals[Int(signal.item)] += signal.weight
            guard perReader[Int(signal.reader)] < max, perItem[Int(signal.item)] < max
            else { return false }
            perReader[Int(signal.reader)] += 1
            perItem[Int(signal.item)] += 1
            return true
        }
        self.itemCount = itemCount
        self.totals = totals
        (readerStarts, readerEntries) = Self.grouped(
            kept, perReader, by: { Int($0.reader) },
            entry: { Entry(id: $0.item, weight: $0.weight) })
        (itemStarts, itemEntries) = Self.grouped(
            kept, perItem, by: { Int($0.item) }, entry: { Entry(id: $0.reader, weight: $0.weight) })
    }

    func items(of reader: Int32) -> ArraySlice<Entry> {
        readerEntries[readerStarts[Int(reader)]..<readerStarts[Int(reader) + 1]]
    }

    func readers(of item: Int32) -> ArraySlice<Entry> {
        itemEntries[itemStarts[Int(item)]..<itemStarts[Int(item) + 1]]
    }

    var readerCount: Int { readerStarts.count - 1 }

    /// Sorts the signals by row with a counting sort, and returns the starts of the rows and their entries.
    private static func grouped(
        _ signals: [Signal], _ counts: [Int], by key: (Signal) -> Int, entry: (Signal) -> Entry
    ) -> ([Int], [Entry]) {
        var starts = [0]
        starts.reserveCapacity(counts.count + 1)
        for count in counts { starts.append(starts[starts.count - 1] + count) }
        var next = starts
        var entries = [Entry](repeating: Entry(id: 0, weight: 0), count: signals.count)
        for signal in signals {
            entries[next[key(signal)]] = entry(signal)
            next[key(signal)] += 1
        }
        return (starts, entries)
    }
}
