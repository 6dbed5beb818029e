import Postgres
import Ranking

/// Learns which books speak for which from everybody's signals: `edition_similar`.
///
/// What it reads and writes are statements for whoever runs it, a command or a job. The steps are small, so
/// that it can be stopped between them; each leaves the table whole.
struct SimilarLearning {
    /// Readers and editions are numbered; no names.
    static let signals = Statement(
        "SELECT reader, edition, weight, is_new, now() FROM signals_to_learn()")
    static let replace = Statement("SELECT replace_similar($1, $2, $3, $4, $5)")
    static let finish = Statement("SELECT similar_was_learned($1)")

    /// Editions whose links are written at once.
    private static let editionsPerWrite = 500
    /// Where more than a fifth has news, everything is learnt again, which is exact.
    private static let incrementalShare = 5

    /// The editions' numbers, by item.
    private let numbers: [Int64]
    private let items: [Int32]
    /// Whether only what has news is learnt.
    let isIncremental: Bool
    let signalCount: Int
    /// When the signals were read.
    private let readAt: Int64
    private var similar: SimilarItems
    private var learnt = 0
    private var links: [SimilarItems.Link] = []

    /// How many editions there are to learn.
    var total: Int { items.count }

    /// - Parameter isIncremental: whether to learn only what was spoken of since the last time.
    init(_ rows: Rows, isIncremental: Bool) {
        var itemsByNumber: [Int64: Int32] = [:]
        var numbers: [Int64] = []
        var news: Set<Int32> = []
        var signals: [Signals.Signal] = []
        signals.reserveCapacity(rows.count)
        for row in 0..<rows.count {
            guard let reader = rows.int32(row, 0), let number = rows.int64(row, 1),
                let weight = rows.float8(row, 2)
            else { continue }
            let item = itemsByNumber[number] ?? Int32(numbers.count)
            if Int(item) == numbers.count {
                itemsByNumber[number] = item
                numbers.append(number)
            }
            if rows.bool(row, 3) == true { news.insert(item) }
            signals.append(.init(reader: reader, item: item, weight: Float(weight)))
        }
        self.numbers = numbers
        self.isIncremental = isIncremental && news.count * Self.incrementalShare <= numbers.count
        items = self.isIncremental ? news.sorted() : numbers.indices.map(Int32.init)
        signalCount = signals.count
        readAt = rows.timestamptz(0, 4) ?? 0
        similar = SimilarItems(Signals(signals, itemCount: numbers.count))
    }

    /// Learns the next few editions.
    ///
    /// - Returns: how many are learnt; as many as `total` at the end.
    mutating func learn(_ count: Int = 100) -> Int {
        for item in items[learnt..<min(learnt + count, items.count)] {
            links += similar.links(to: item)
            learnt += 1
        }
        return learnt
    }

    /// What to write when all is learnt: the parameters of `replace`, time after time, and of `finish`.
    func writes() -> (replacing: [Parameters], finishing: Parameters) {
        var finishing = Parameters()
        finishing.append(timestamptz: readAt)
        guard !isIncremental else { return ([parameters(links, sources: nil)], finishing) }
        let strongest = SimilarItems.strongest(links, itemCount: numbers.count)
        var replacing: [Parameters] = []
        for start in stride(from: 0, to: numbers.count, by: Self.editionsPerWrite) {
            let sources = start..<min(start + Self.editionsPerWrite, numbers.count)
            replacing.append(
                parameters(sources.flatMap { strongest[$0] }, sources: sources.map { numbers[$0] }))
        }
        return (replacing, finishing)
    }

    /// - Parameter sources: the editions whose links are replaced; nil for all links to what was learnt.
    private func parameters(_ links: [SimilarItems.Link], sources: [Int64]?) -> Parameters {
        var parameters = Parameters()
        if let sources {
            parameters.append(int64s: sources)
            parameters.appendNull(PostgresType.int64.array)
        } else {
            parameters.appendNull(PostgresType.int64.array)
            parameters.append(int64s: items.map { numbers[Int($0)] })
        }
        parameters.append(int64s: links.map { numbers[Int($0.from)] })
        parameters.append(int64s: links.map { numbers[Int($0.to)] })
        parameters.appendArray(of: .float8) { scores in
            for link in links { scores.append(float8: Double(link.weight)) }
        }
        return parameters
    }
}
