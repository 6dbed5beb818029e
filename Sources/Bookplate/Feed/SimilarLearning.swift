import Postgres
import Ranking

/// Learns which books speak for which from everybody's signals: `edition_similar`.
///
/// What it reads and writes are statements for whoever runs it, a command or a job. The steps are small, so
/// that it can be stopped between them; each leaves the table whole. The server does it beside its requests, so
/// what it holds is compact: 8 bytes a signal twice, and each edition's strongest links.
struct SimilarLearning {
    /// A row for each reader, without a name, that holds their signals; and the editions that have news.
    static let signals = Statement("SELECT signals FROM signals_of_readers()")
    static let news = Statement("SELECT edition, now() FROM editions_with_news()")
    static let replace = Statement("SELECT replace_similar($1, $2, $3, $4, $5)")
    static let finish = Statement("SELECT similar_was_learned($1)")

    /// Editions whose links are written at once.
    private static let editionsPerWrite = 200
    /// Where more than a fifth has news, everything is learnt again, which is exact.
    private static let incrementalShare = 5
    /// Of a signal in a row: the edition's number, and the weight in hundredths.
    private static let signalBytes = 10

    /// The editions' numbers, by item.
    private let numbers: [Int64]
    private let items: [Int32]
    /// Whether only what has news is learnt.
    let isIncremental: Bool
    let signalCount: Int
    /// When the signals were read; nil where there was no news.
    private let readAt: Int64?
    private var similar: SimilarItems
    private var learnt = 0
    /// Of all, where all is learnt.
    private var strongest: StrongestLinks
    /// To those with news, where only they are learnt, item by item.
    private var links: [[SimilarItems.Link]] = []

    /// How many editions there are to learn.
    var total: Int { items.count }

    /// - Parameters:
    ///   - rows: of `signals`.
    ///   - news: of `news`.
    ///   - isIncremental: whether to learn only what was spoken of since the last time.
    init(_ rows: Rows, news: Rows, isIncremental: Bool) {
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
        let told = (0..<news.count).compactMap { news.int64($0, 0).flatMap { itemsByNumber[$0] } }
        self.numbers = numbers
        self.isIncremental = isIncremental && told.count * Self.incrementalShare <= numbers.count
        items = self.isIncremental ? told.sorted() : numbers.indices.map(Int32.init)
        signalCount = signals.count
        readAt = news.timestamptz(0, 1)
        similar = SimilarItems(Signals(signals, itemCount: numbers.count))
        strongest = StrongestLinks(itemCount: self.isIncremental ? 0 : numbers.count)
    }

    /// Learns the next few editions.
    ///
    /// - Returns: how many are learnt; as many as `total` at the end.
    mutating func learn(_ count: Int = 100) -> Int {
        for item in items[learnt..<min(learnt + count, items.count)] {
            let found = similar.links(to: item)
            if isIncremental {
                links.append(found)
            } else {
                for link in found { strongest.insert(link) }
            }
            learnt += 1
        }
        return learnt
    }

    /// How many times `replace` is to be run when all is learnt.
    var writeCount: Int {
        (items.count + Self.editionsPerWrite - 1) / Self.editionsPerWrite
    }

    /// The parameters of `replace`, one of so many times as `writeCount`: some editions' links to others, or,
    /// where only what has news is learnt, all links to some of that.
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
        return parameters
    }
}
