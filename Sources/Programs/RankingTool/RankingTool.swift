import Glibc
import Ranking
import Version

/// A command-line filter around the ranking code, for offline measurements (`scripts/ranking`).
@main
enum RankingTool {
    static let usage = """
        usage: ranking-tool [--help | --version]

        Ranks books offline with the code of the server. It reads these lines from
        standard input:

          item POPULARITY AUTHOR SERIES POSITION GENRES
                        Adds a book. Books are numbered from 0. Popularity is from 0 to
                        1; author and series are numbers, with 0 for none. POSITION is
                        the number of the volume, or -. GENRES are numbers from 1, most
                        important first, separated by commas, or -.
          signal READER ITEM WEIGHT
                        Adds a signal to learn from.
          omit [RULE...]
                        Leaves out these rules of the order in the following queries:
                        genres, limits, neighbours.
          query COUNT ITEM:WEIGHT...
                        Prints the best COUNT books for a reader with these signals,
                        newest last. Books with a signal are left out. Without signals,
                        prints the deck for new readers.
          links         Prints each learned link as FROM TO WEIGHT, then an empty line.

        """

    static func main() {
        handleArguments(Array(CommandLine.arguments.dropFirst()))
        var items: [FeedItem] = []
        var signals: [Signals.Signal] = []
        var omitted: Set<FeedRanking.Rule> = []
        var links: [[SimilarItems.Link]]?
        func learnedLinks() -> [[SimilarItems.Link]] {
            if let links { return links }
            var similar = SimilarItems(Signals(signals, itemCount: items.count))
            var strongest = StrongestLinks(itemCount: items.count)
            for item in items.indices {
                for link in similar.links(to: Int32(item)) { strongest.insert(link) }
            }
            let learned = items.indices.map { strongest.links(of: Int32($0)) }
            links = learned
            return learned
        }
        while let line = readLine() {
            let words = line.split(separator: " ")
            switch words.first {
            case "item":
                guard let item = item(words) else { stop(line) }
                items.append(item)
            case "signal":
                guard words.count == 4, let reader = Int32(words[1]), let item = Int32(words[2]),
                    let weight = Float(words[3])
                else { stop(line) }
                signals.append(.init(reader: reader, item: item, weight: weight))
            case "omit":
                let rules = words.dropFirst().map { word in
                    guard let rule = FeedRanking.Rule(rawValue: String(word)) else { stop(line) }
                    return rule
                }
                omitted = Set(rules)
            case "query":
                guard words.count > 1, let count = Int(words[1]) else { stop(line) }
                put(
                    ranking(words[2...], omitted, count, items, learnedLinks()) + "\n",
                    STDOUT_FILENO)
            case "links":
                for link in learnedLinks().joined() {
                    put("\(link.from) \(link.to) \(link.weight)\n", STDOUT_FILENO)
                }
                put("\n", STDOUT_FILENO)
            default: stop(line)
            }
        }
    }

    /// Reads a line "item".
    private static func item(_ words: [Substring]) -> FeedItem? {
        guard words.count == 6, let popularity = Float(words[1]), let author = Int32(words[2]),
            let series = Int64(words[3]), words[4] == "-" || Float(words[4]) != nil
        else { return nil }
        let genres = words[5] == "-" ? [] : words[5].split(separator: ",").map { Int16($0) }
        guard !genres.contains(nil) else { return nil }
        return FeedItem(
            affinity: 0, popularity: popularity,
            traits: BookTraits(
                genres: genres.compactMap { $0 }, author: author, series: series,
                seriesPosition: Float(words[4])))
    }

    private static func ranking(
        _ opinions: ArraySlice<Substring>, _ omitted: Set<FeedRanking.Rule>, _ count: Int,
        _ items: [FeedItem], _ links: [[SimilarItems.Link]]
    ) -> String {
        var affinities: [Int32: Float] = [:]
        var own: Set<Int> = []
        var signals: [ReaderSignal] = []
        var newer: Float = 0
        for word in opinions.reversed() {
            let parts = word.split(separator: ":")
            guard parts.count == 2, let item = Int(parts[0]), items.indices.contains(item),
                let weight = Float(parts[1])
            else { stop(String(word)) }
            own.insert(item)
            signals.append(ReaderSignal(weight: weight, newer: newer, traits: items[item].traits))
            for link in links[item] {
                affinities[link.to, default: 0] +=
                    weight * FeedRanking.recencyBoost(newer: newer) * link.weight
            }
            if weight > 0 { newer += 1 }
        }
        let isNew = signals.isEmpty
        let numbers = items.indices.filter { item in
            !own.contains(item) && !(isNew && items[item].traits.genres.isEmpty)
        }
        let candidates = numbers.map { item in
            var candidate = items[item]
            candidate.affinity = affinities[Int32(item)] ?? 0
            return candidate
        }
        let ranked = FeedRanking.rank(
            candidates, signals: signals, preferred: [], count: count, after: [],
            without: omitted)
        return ranked.map { String(numbers[$0]) }.joined(separator: " ")
    }

    /// Handles `--help` and `--version`, which end the program.
    private static func handleArguments(_ arguments: [String]) {
        guard let argument = arguments.first else { return }
        switch argument {
        case "--help", "-h": put(usage, STDOUT_FILENO)
        case "--version": put("ranking-tool \(bookplateVersion)\n", STDOUT_FILENO)
        default:
            put(
                "ranking-tool: Unknown argument \"\(argument)\". See ranking-tool --help.\n",
                STDERR_FILENO)
            exit(64)
        }
        exit(0)
    }

    private static func stop(_ line: String) -> Never {
        put("ranking-tool: invalid command: \(line.prefix(100))\n", STDERR_FILENO)
        exit(64)
    }

    /// Writes without buffering, because the caller waits for each result.
    private static func put(_ text: String, _ descriptor: Int32) {
        var text = text
        text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
                guard count > 0 else { exit(1) }
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
        }
    }
}
