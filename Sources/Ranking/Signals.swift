/// What readers think of items: for each pair at most one weight above 0, by reader and by item.
///
/// Readers and items are numbered from 0. Memory grows with the signals.
package struct Signals: Sendable {
    /// One reader's opinion of one item.
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

    /// The other side of a signal: an item of a reader, or a reader of an item.
    struct Entry {
        let id: Int32
        let weight: Float
    }

    package let itemCount: Int
    /// What all readers of an item think of it, those beyond `max`, too.
    let totals: [Float]
    private let readerStarts: [Int]
    private let ofReaders: [Entry]
    private let itemStarts: [Int]
    private let ofItems: [Entry]

    /// - Parameter signals: those that come first count, where a reader or an item has more than `max` of them.
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
        (readerStarts, ofReaders) = Self.grouped(
            kept, perReader, by: { Int($0.reader) },
            entry: { Entry(id: $0.item, weight: $0.weight) })
        (itemStarts, ofItems) = Self.grouped(
            kept, perItem, by: { Int($0.item) }, entry: { Entry(id: $0.reader, weight: $0.weight) })
    }

    func items(of reader: Int32) -> ArraySlice<Entry> {
        ofReaders[readerStarts[Int(reader)]..<readerStarts[Int(reader) + 1]]
    }

    func readers(of item: Int32) -> ArraySlice<Entry> {
        ofItems[itemStarts[Int(item)]..<itemStarts[Int(item) + 1]]
    }

    var readerCount: Int { readerStarts.count - 1 }

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
