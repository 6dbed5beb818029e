import Postgres
import Ranking

/// Learns from the signals of all readers how much each book predicts another one, and stores the result in the table
/// `edition_similar`.
///
/// The caller, a command or a job, runs the statements. It can stop after each step, and each step leaves the table
/// consistent. The server runs this concurrently with requests, so the data is compact: two copies of the signals with
/// 8 bytes each, and the strongest links of each edition.
struct SimilarLearning {
    /// Returns one row for each reader, without the reader's ID, with the signals.
    static let signals = Statement("SELECT signals FROM signals_of_readers()")
    /// Returns the editions with signals that are newer than the last run.
    static let changedEditions = TypedStatement<ChangedEdition>(
        "SELECT edition, now() FROM editions_with_news()")
    static let replace = Statement("SELECT replace_similar($1, $2, $3, $4, $5)")
    static let finish = Statement("SELECT finish_learning($1, $2, $3)")

    /// The number of editions whose links are stored by one statement.
    private static let editionsPerWrite = 200
    /// If more than a fifth of the editions have changed, everything is learned again, which is exact.
    private static let incrementalShare = 5
    /// The size of one signal in a row: the edition's number as Int64 and the weight in hundredths as Int16.
    private static let signalBytes = 10

    /// The number of the edition of each item.
    private let numbers: [Int64]
    private let items: [Int32]
    /// Whether only the changed editions are learned.
    let isIncremental: Bool
    let signalCount: Int
    /// The time at which the signals were read; nil if no edition has changed.
    private let readAt: Int64?
    private var similar: SimilarItems
    private var learnedCount = 0
    /// The strongest links of all items, if all are learned.
    private var strongest: StrongestLinks
    /// The links to each changed item, if only changed items are learned.
    private var links: [[SimilarItems.Link]] = []

    /// The number of editions to learn.
    var total: Int { items.count }

    /// - Parameters:
    ///   - rows: The rows of `signals`. They are not decoded, to avoid a copy.
    ///   - changed: The rows of `changedEditions`.
    ///   - isIncremental: Whether to learn only the changed editions.
    init(_ rows: Rows, changed: [ChangedEdition], isIncremental: Bool) {
        var itemsByNumber: [Int64: Int32] = [:]
        var numbers: [Int64] = []
        var signals: [Signals.Signal] = []
        for row in 0..<rows.count {
            guard let bytes = rows.bytes(row, 0) else { continue }
            for start in stride(
                from: 0, through: bytes.count - Self.signalBytes, by: Self.signalBytes)
            {
                let number = Int64(
                    bigEndian: bytes.loadUnaligned(fromByteOffset: start, as: Int64.self))
                let weight = Int16(
                    bigEndian: bytes.loadUnaligned(fromByteOffset: start + 8, as: Int16.self))
                let item = itemsByNumber[number] ?? Int32(numbers.count)
                if Int(item) == numbers.count {
                    itemsByNumber[number] = item
                    numbers.append(number)
                }
                signals.append(
                    .init(reader: Int32(row), item: item, weight: Float(weight) / 100))
            }
        }
        let changedItems = changed.compactMap { itemsByNumber[$0.number] }
        self.numbers = numbers
        self.isIncremental =
            isIncremental && changedItems.count * Self.incrementalShare <= numbers.count
        items = self.isIncremental ? changedItems.sorted() : numbers.indices.map(Int32.init)
        signalCount = signals.count
        readAt = changed.first?.readAt
        similar = SimilarItems(Signals(signals, itemCount: numbers.count))
        strongest = StrongestLinks(itemCount: self.isIncremental ? 0 : numbers.count)
    }

    /// Learns the next editions.
    ///
    /// - Returns: The number of editions learned so far, which is `total` at the end.
    mutating func learn(_ count: Int = 100) -> Int {
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
    var writeCount: Int {
        (items.count + Self.editionsPerWrite - 1) / Self.editionsPerWrite
    }

    /// Returns the parameters of the `number`th run of `replace`: the links from some editions, or, if only changed editions are
    /// learned, the links to some of these.
    func write(_ number: Int) -> Parameters {
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
    var finishing: Parameters {
        var parameters = Parameters()
        parameters.append(timestamptz: readAt)
        parameters.append(int64s: items.map { numbers[Int($0)] })
        parameters.append(bool: !isIncremental)
        return parameters
    }
}

extension SimilarLearning {
    struct ChangedEdition: RowDecodable {
        let number: Int64
        /// The start of the transaction, in microseconds of Unix time.
        let readAt: Int64?

        init?(_ row: inout RowReader) {
            guard let number = row.int64() else { return nil }
            self.number = number
            readAt = row.timestamptz()
        }
    }
}
