import Postgres
import Ranking

/// Learns from the signals of all readers how much each book predicts another one, and stores the result in the table
/// `edition_similar`.
///
/// The caller, a command or a job, runs the statements. It can stop after each step, and each step leaves the table
/// consistent. If it stops while the links of all editions are written, the next run learns all of them again. The server runs this concurrently with requests, so the data is compact: two copies of the signals with
/// 8 bytes each, and the strongest links of each edition.
package struct SimilarLearning {
    /// Returns the works with signals that changed since they were last learned. Read it before `signals`, so that the counts
    /// contain no changes that the signals lack.
    package static let changedWorks = TypedStatement<ChangedWork>(
        "SELECT number, changes, is_due, is_empty FROM works_to_learn()")
    /// Returns only the works with enough changed signals to learn them again.
    static let dueWorks = TypedStatement<ChangedWork>(
        "SELECT number, changes, is_due, is_empty FROM works_to_learn(true)")
    /// Returns one row for each reader, without the reader's ID, with two arrays: the works and the weights of the signals.
    package static let signals = Statement("SELECT works, weights FROM signals_to_learn()")
    package static let replace = Statement("SELECT replace_similar($1, $2, $3, $4, $5)")
    package static let finish = Statement("SELECT finish_learning($1, $2, $3)")

    /// The number of editions whose links are stored by one statement.
    private static let editionsPerWrite = 200
    /// If more than a fifth of the editions have changed, everything is learned again, which is exact.
    private static let incrementalShare = 5
    /// The number of the edition of each item.
    private let numbers: [Int64]
    private let items: [Int32]
    /// Whether only the changed editions are learned.
    package let isIncremental: Bool
    package let signalCount: Int
    /// The works to record as learned.
    private let changed: [ChangedWork]
    private var similar: SimilarItems
    private var learnedCount = 0
    /// The strongest links of all items, if all are learned.
    private var strongest: StrongestLinks
    /// The links to each changed item, if only changed items are learned.
    private var links: [[SimilarItems.Link]] = []

    /// The number of editions to learn.
    package var total: Int { items.count }

    /// - Parameters:
    ///   - rows: The rows of `signals`. They are not decoded, to avoid a copy.
    ///   - changed: The rows of `changedWorks`.
    ///   - isIncremental: Whether to learn only the changed editions.
    package init(_ rows: Rows, changed: [ChangedWork], isIncremental: Bool) {
        var itemsByNumber: [Int64: Int32] = [:]
        var numbers: [Int64] = []
        var signals: [Signals.Signal] = []
        withExtendedLifetime(rows) {
            for row in 0..<rows.count {
                guard let works = rows.bytes(row, 0), let weights = rows.bytes(row, 1)
                else { continue }
                for (number, weight) in zip(
                    IntegerElements<Int64>(works), IntegerElements<Int16>(weights))
                {
                    let item = itemsByNumber[number] ?? Int32(numbers.count)
                    if Int(item) == numbers.count {
                        itemsByNumber[number] = item
                        numbers.append(number)
                    }
                    signals.append(
                        .init(reader: Int32(row), item: item, weight: Float(weight) / 100))
                }
            }
        }
        // Works that have lost all their signals keep no links.
        for work in changed where work.isEmpty && itemsByNumber[work.number] == nil {
            itemsByNumber[work.number] = Int32(numbers.count)
            numbers.append(work.number)
        }
        let due = changed.filter(\.isDue)
        let dueItems = due.compactMap { itemsByNumber[$0.number] }
        self.numbers = numbers
        self.isIncremental =
            isIncremental && dueItems.count * Self.incrementalShare <= numbers.count
        items = self.isIncremental ? dueItems.sorted() : numbers.indices.map(Int32.init)
        signalCount = signals.count
        self.changed = self.isIncremental ? due : changed
        similar = SimilarItems(Signals(signals, itemCount: numbers.count))
        strongest = StrongestLinks(itemCount: self.isIncremental ? 0 : numbers.count)
    }

    /// Learns the next editions.
    ///
    /// - Returns: The number of editions learned so far, which is `total` at the end.
    package mutating func learn(_ count: Int = 100) -> Int {
        for item in items[learnedCount..<min(learnedCount + count, items.count)] {
            let found = similar.links(to: item)
            if isIncremental {
                links.append(found)
            } else {
                for link in found { strongest.insert(link) }
            }
            learnedCount += 1
        }
        return learnedCount
    }

    /// How often `replace` must be run after everything is learned.
    package var writeCount: Int {
        (items.count + Self.editionsPerWrite - 1) / Self.editionsPerWrite
    }

    /// Returns the parameters of the `number`th run of `replace`: the links from some editions, or, if only changed editions are
    /// learned, the links to some of these.
    package func write(_ number: Int) -> Parameters {
        let start = number * Self.editionsPerWrite
        let range = start..<min(start + Self.editionsPerWrite, items.count)
        let written = items[range].map { numbers[Int($0)] }
        var parameters = Parameters()
        if isIncremental { parameters.appendNull(PostgresType.int64.array) }
        parameters.append(int64s: written)
        if !isIncremental { parameters.appendNull(PostgresType.int64.array) }
        let links =
            isIncremental
            ? links[range].flatMap { $0 } : items[range].flatMap { strongest.links(of: $0) }
        parameters.append(int64s: links.map { numbers[Int($0.from)] })
        parameters.append(int64s: links.map { numbers[Int($0.to)] })
        parameters.appendArray(of: .float8) { scores in
            for link in links { scores.append(float8: Double(link.weight)) }
        }
        return parameters
    }

    /// The parameters of `finish`.
    package var finishing: Parameters {
        var parameters = Parameters()
        parameters.append(int64s: changed.map(\.number))
        parameters.append(int64s: changed.map(\.changes))
        parameters.append(bool: !isIncremental)
        return parameters
    }
}

extension SimilarLearning {
    package struct ChangedWork: RowDecodable {
        /// The number of the edition that has founded the work.
        let number: Int64
        /// How many of the work's signals were ever added, changed, or removed.
        let changes: Int64
        /// Whether enough signals have changed to learn the work again.
        let isDue: Bool
        /// Whether the work has lost all its signals.
        let isEmpty: Bool

        package init?(_ row: inout RowReader) {
            guard let number = row.int64(), let changes = row.int64(), let isDue = row.bool(),
                let isEmpty = row.bool()
            else { return nil }
            self.number = number
            self.changes = changes
            self.isDue = isDue
            self.isEmpty = isEmpty
        }
    }
}

/// The elements of a one-dimensional array of integers without NULL, in PostgreSQL's binary format: a header of 20 bytes, then the
/// length and the value of each element.
private struct IntegerElements<Element: FixedWidthInteger>: Sequence, IteratorProtocol {
    private static var stride: Int { 4 + MemoryLayout<Element>.size }

    private let bytes: UnsafeRawBufferPointer
    private var offset = 20

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    mutating func next() -> Element? {
        guard offset + Self.stride <= bytes.count else { return nil }
        defer { offset += Self.stride }
        return Element(
            bigEndian: bytes.loadUnaligned(fromByteOffset: offset + 4, as: Element.self))
    }
}
