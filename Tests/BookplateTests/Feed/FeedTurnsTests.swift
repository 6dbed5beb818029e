import TestSupport
import Testing

@testable import Bookplate

@Suite struct FeedTurnsTests {
    private func cards(
        _ list: [(genre: Int16, author: Int32, series: Int32)]
    ) -> [FeedCandidate] {
        list.enumerated().map { row, card in
            FeedCandidate(
                row: Int32(row), genre: card.genre, place: Int64(row + 1),
                origin: .init(author: card.author, series: card.series))
        }
    }

    private func selectedRows(
        _ list: [(genre: Int16, author: Int32, series: Int32)], preferring: [Int16] = [],
        count: Int = 100
    ) -> [Int32] {
        var position = FeedPosition(asOf: 1)
        position.prefer(preferring)
        let genres = list.map(\.genre).reduce(into: [Int16]()) {
            if !$0.contains($1) { $0.append($1) }
        }
        return FeedTurns(cards(list), of: genres, from: position, count: count).cards.map(\.row)
    }

    @Test func genresAlternate() {
        #expect(
            selectedRows([(1, 0, 0), (1, 0, 0), (2, 0, 0), (2, 0, 0), (3, 0, 0)]) == [
                0, 2, 4, 1, 3,
            ])
        #expect(selectedRows([(1, 0, 0), (1, 0, 0), (2, 0, 0)]) == [0, 2, 1])
    }

    @Test func singleGenreIsRepeated() {
        let turns = FeedTurns(
            cards([(1, 0, 0), (1, 0, 0)]), of: [1], from: FeedPosition(asOf: 1), count: 2)
        #expect(turns.cards.map(\.row) == [0, 1])
        #expect(turns.hasNeighbours)
    }

    @Test func authorsAndSeriesAreNotRepeatedSoon() {
        // Author 7 is first in the genres 1 and 2, series 9 in the genres 3 and 4.
        #expect(
            selectedRows(
                [(1, 7, 0), (2, 7, 0), (2, 1, 0), (3, 2, 9), (4, 3, 9), (5, 4, 0)], count: 3)
                == [0, 3, 5])
        // If nothing else is left, the author is repeated.
        #expect(selectedRows([(1, 7, 0), (2, 7, 0)]) == [0, 1])
    }

    /// Lower tiers come first, unless consecutive cards would have the same genre.
    @Test func lowerTiersComeFirst() {
        let tiers: [(genre: Int16, tier: Int64)] = [(1, 3), (2, 0), (2, 0), (2, 0), (3, 2), (3, 2)]
        let candidates = tiers.enumerated().map { row, card in
            FeedCandidate(
                row: Int32(row), genre: card.genre,
                place: card.tier * FeedPosition.firstTierEnd + Int64(row),
                origin: .init(author: 0, series: 0))
        }
        let turns = FeedTurns(
            candidates, of: [1, 2, 3], from: FeedPosition(asOf: 1), count: candidates.count)
        #expect(turns.cards.map(\.row) == [1, 4, 2, 5, 3, 0])
    }

    @Test func preferredGenresProvideEverySecondCard() {
        #expect(
            selectedRows(
                [(1, 0, 0), (1, 0, 0), (2, 0, 0), (2, 0, 0), (3, 0, 0), (3, 0, 0)],
                preferring: [3], count: 4) == [4, 0, 5, 2])
    }

    /// Consecutive cards of random queues have the same genre only if no other genre has cards left.
    @Test func rulesHoldForRandomQueues() {
        var random = SeededGenerator(3)
        for _ in 0..<300 {
            let genreCount = Int16.random(in: 1...8, using: &random)
            let list = (0..<Int.random(in: 1...60, using: &random)).map { _ in
                (
                    genre: Int16.random(in: 1...genreCount, using: &random),
                    author: Int32.random(in: 0...20, using: &random),
                    series: Int32.random(in: -8...3, using: &random)
                )
            }.sorted { $0.genre < $1.genre }
            let order = selectedRows(
                list, preferring: Bool.random(using: &random) ? [1] : [], count: list.count)
            #expect(Set(order).count == list.count)
            var left = list.reduce(into: [Int16: Int]()) { $0[$1.genre, default: 0] += 1 }
            for (row, next) in zip(order, order.dropFirst()) {
                let genre = list[Int(row)].genre
                left[genre, default: 0] -= 1
                if genre == list[Int(next)].genre {
                    #expect(left.allSatisfy { $0.key == genre || $0.value == 0 })
                }
            }
        }
    }
}
