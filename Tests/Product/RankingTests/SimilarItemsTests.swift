import Testing

@testable import Ranking

@Suite struct SimilarItemsTests {
    /// Two groups of readers with five items each, and item 10, which all readers like.
    private static let groups: [Signals.Signal] = {
        var signals: [Signals.Signal] = []
        for reader in 0..<40 {
            for item in 0..<5 where (item + reader) % 3 != 0 {
                let number = Int32(item + reader % 2 * 5)
                signals.append(.init(reader: Int32(reader), item: number, weight: 1))
            }
            signals.append(.init(reader: Int32(reader), item: 10, weight: 1))
        }
        return signals
    }()

    @Test func itemsOfOneGroupPredictEachOther() {
        var similar = SimilarItems(Signals(Self.groups, itemCount: 12))
        for item in 0..<Int32(10) {
            let links = similar.links(to: item)
            // Item 10 predicts everything. Among the others, only items of the same group do.
            let positive = links.filter { $0.from != 10 && $0.weight > 0 }
            let strongest = positive.sorted { $0.weight > $1.weight }.prefix(4).map(\.from)
            #expect(!strongest.isEmpty)
            #expect(strongest.allSatisfy { $0 / 5 == item / 5 }, "\(item): \(links)")
            #expect(links.allSatisfy { $0.to == item && $0.from != item && $0.weight.isFinite })
        }
        // Item 11 has no readers.
        #expect(similar.links(to: 11) == [])
    }

    /// The same 20 readers share two items, with and without 380 readers of another item.
    @Test func commonItemsPredictLess() throws {
        let both = (0..<Int32(40)).map { Signals.Signal(reader: $0 / 2, item: $0 % 2, weight: 1) }
        let others = (20..<Int32(400)).map { Signals.Signal(reader: $0, item: 2, weight: 1) }
        func weight(_ signals: [Signals.Signal]) throws -> Float {
            var similar = SimilarItems(Signals(signals, itemCount: 3))
            let links = similar.links(to: 1)
            #expect(links.map(\.from) == [0])
            return try #require(links.first).weight
        }
        let common = try weight(both)
        let rare = try weight(both + others)
        #expect(common > 0)
        #expect(rare > 3 * common && rare < 4 * common)
    }

    @Test func sameSignalsYieldTheSameLinks() {
        func learnedLinks(_ signals: [Signals.Signal]) -> [[SimilarItems.Link]] {
            var similar = SimilarItems(Signals(signals, itemCount: 12))
            var strongest = StrongestLinks(itemCount: 12)
            for link in (0..<12).flatMap({ similar.links(to: $0) }) { strongest.insert(link) }
            return (0..<12).map { strongest.links(of: $0) }
        }
        #expect(learnedLinks(Self.groups) == learnedLinks(Self.groups))
    }

    @Test func keepsTheStrongestLinks() {
        // The numbers from 0 to 229 in a scattered order.
        let numbers = (0..<Int32(230)).map { $0 * 97 % 230 }
        let links = numbers.map { number in
            SimilarItems.Link(from: 0, to: number, weight: Float(number - 115) / 10)
        }
        var strongest = StrongestLinks(itemCount: 230)
        for link in links { strongest.insert(link) }
        let kept = strongest.links(of: 0)
        #expect(kept.count == StrongestLinks.linksMax)
        #expect(kept.first?.to == 0)
        #expect(kept.allSatisfy { abs($0.weight) >= 9 })
        #expect((1..<230).allSatisfy { strongest.links(of: $0).isEmpty })
    }

    @Test func ignoresInvalidSignals() {
        let signals = Signals(
            [
                .init(reader: -1, item: 0, weight: 1), .init(reader: 0, item: -1, weight: 1),
                .init(reader: 0, item: 9, weight: 1), .init(reader: 0, item: 0, weight: 0),
                .init(reader: 0, item: 1, weight: -1), .init(reader: 0, item: 1, weight: .nan),
                .init(reader: 2, item: 1, weight: 1),
            ], itemCount: 2)
        #expect(signals.items(of: 0).isEmpty)
        #expect(signals.items(of: 2).map(\.id) == [1])
        #expect(signals.readers(of: 1).map(\.id) == [2])
        #expect(Signals([], itemCount: 0).readerCount == 0)
    }

    @Test func limitsTheSignalsOfAReader() {
        let many = (0..<50).map { Signals.Signal(reader: 0, item: Int32($0), weight: 1) }
        let signals = Signals(many, itemCount: 50, max: 10)
        #expect(signals.items(of: 0).map(\.id) == Array(0..<10))
        // The totals include all signals.
        #expect(signals.totals.allSatisfy { $0 == 1 })
    }

    @Test func solvesEquations() {
        // 4x + 2y = 10, 2x + 3y = 9
        var matrix: [Float] = [4, 2, 2, 3]
        var right: [Float] = [10, 9]
        solve(&matrix, &right)
        #expect(abs(right[0] - 1.5) < 1e-5 && abs(right[1] - 2) < 1e-5)
    }
}
