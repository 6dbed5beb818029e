import GraphQL
import TestSupport
import Testing

@testable import Bookplate

/// The number of rows that are read for a feed with many genres. A queue may be read once for each genre of the filter.
@Suite struct FeedFilterTests {
    @Test(arguments: [1, 5, 11, 101], [1, 2, 20, 40])
    func numberOfRowsIsBounded(wanted: Int, genres: Int) {
        let turns = (0...40).map { Int16($0) }
        let filter = (1...genres).map { Int16($0) }
        let shares = FeedReader.much(turns, filter: filter, wanted: wanted, atLeast: [:])
        #expect(shares.map(\.genre) == turns)
        #expect(
            shares.allSatisfy {
                $0.most > min(wanted, wanted / turns.count + 1) || $0.most == wanted
            })
        func read(_ shares: [(genre: Int16, most: Int)]) -> Int {
            shares.reduce(0) { $0 + $1.most * (filter.contains($1.genre) ? 1 : filter.count) }
        }
        let little = read(turns.map { ($0, wanted / turns.count + 2) })
        #expect(read(shares) <= max(20 * wanted, little))
        // With few queues, a whole page is read from each.
        let most = FeedReader.much(
            Array(turns.prefix(20)), filter: nil, wanted: wanted, atLeast: [:])
        #expect(most.allSatisfy { $0.most == wanted })
    }

    @Test func moreRowsAreReadOnlyFromQueuesWithTooFew() {
        let shares = FeedReader.much(
            (0...40).map { Int16($0) }, filter: (1...20).map { Int16($0) }, wanted: 101,
            atLeast: [30: 44, 31: 1000])
        #expect(shares.filter { $0.most > 11 }.map(\.genre) == [30, 31])
        #expect(shares[30].most == 44)
        #expect(shares[31].most == 101)
    }

    /// With more genres than are in rotation at once, each book is shown once and consecutive cards have different genres.
    @Test(arguments: [1, 40, 100, nil], [7, 50, 100])
    func allBooksOfManyGenresAreShown(genres: Int?, first: Int) async throws {
        let reader = try await Self.many().makeReader()
        let wanted = genres.map { (1...$0).map { "Genre \($0 * 2)" } }
        var shown: [Value] = []
        var after = Value.null
        repeat {
            let response = try await reader.execute(
                FeedTests.feed,
                [
                    "first": .int(first), "after": after,
                    "genres": wanted.map { .list($0.map { .string($0) }) } ?? .null,
                ])
            shown += response["feed", "nodes"]?.list ?? []
            guard response["feed", "pageInfo", "hasNextPage"] == true else { break }
            after = response["feed", "pageInfo", "endCursor"] ?? .null
        } while shown.count < 1000
        let expected = (1...600).filter { number in
            wanted.map { wanted in Self.genres(number).contains { wanted.contains($0) } } ?? true
        }
        #expect(Set(shown.compactMap { $0["id"]?.string }).count == shown.count)
        #expect(shown.count == expected.count)
        var left = shown.reduce(into: [:]) { $0[$1["genre"]?.string ?? "", default: 0] += 1 }
        for (card, next) in zip(shown, shown.dropFirst()) {
            let genre = card["genre"]?.string ?? ""
            left[genre, default: 0] -= 1
            guard next["genre"] == card["genre"] else { continue }
            #expect(left.allSatisfy { $0.key == genre || $0.value == 0 })
        }
    }

    private static let many = Shared {
        try await TestApp.start(
            catalog: (1...600).map { TestCatalog.line($0, genres: genres($0)) })
    }
    /// The second genre of each book is the first genre of other books.
    private static func genres(_ number: Int) -> [String] {
        ["Genre \(1 + number % 200)", "Genre \(1 + number * 7 % 200)"]
    }

    /// The catalog has 100 books with a description whose second genre is in the filter, and 100 books without a description
    /// whose first genre is in the filter. Every second card is from the former, which are more than are read at once.
    @Test func moreRowsAreReadFromAQueueIfNeeded() async throws {
        let app = try await TestApp.start(
            catalog: (1...217).map { number in
                let genres =
                    switch number {
                    case 1...100: ["Genre 30", "Genre 1"]
                    case 101...200: ["Genre \(1 + number % 12)"]
                    default: ["Genre \(number - 188)"]
                    }
                let named = genres.map { "\"\($0)\"" }.joined(separator: ",")
                let description =
                    (101...200).contains(number) ? "" : #""description":"A story of it.","#
                return """
                    {"ids":{"test":"\(number)"},"title":"Card \(number)","authors":["Author \(number)"],\
                    "genres":[\(named)],"language":"en",\(description)"ratingsCount":\(100_000 - number * 300)}
                    """
            })
        let reader = try await app.makeReader()
        let genres = Value.list((1...12).map { .string("Genre \($0)") })
        let page = try await reader.requireValue(
            FeedTests.feed, ["first": 100, "genres": genres], "feed", "nodes")
        let isFirst = page.values(of: "genre").map { $0 == "Genre 30" }
        #expect(isFirst == (0..<100).map { $0 % 2 == 0 })
        let numbers = zip(page.values(of: "title"), isFirst).compactMap { title, isFirst in
            isFirst ? title.string?.split(separator: " ").last.flatMap { Int($0) } : nil
        }
        #expect(numbers == Array(1...50))
    }
}
