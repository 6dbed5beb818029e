import Foundation
import Testing

@testable import BookplateClient
@testable import ClientSimulation

@Suite struct SimulationTests {
    /// The number of seeds: a hundred in a run of all tests, and more in `scripts/check simulate`, whose scripts are longer, too.
    private static let count = ProcessInfo.processInfo.environment["BOOKPLATE_TEST_SEEDS"]
        .flatMap(UInt64.init)
    private static let seeds = 0..<(count ?? 100)
    private static let length = count == nil ? 70 : 200

    @Test(arguments: Array(stride(from: seeds.lowerBound, to: seeds.upperBound, by: 10)))
    func devicesAndServerAgreeAfterQuiet(_ first: UInt64) throws {
        for seed in first..<first + 10 {
            let script = Simulation.script(seed: seed, length: Self.length)
            guard let failure = Self.failure(of: script) else { continue }
            let shrunk = Self.shrink(script)
            Issue.record(
                "Seed \(seed): \(failure)\n\(shrunk.map(\.description).joined(separator: "\n"))")
        }
    }

    @Test(arguments: PlantedFault.allCases)
    func plantedFaultsAreFound(_ fault: PlantedFault) {
        let found = (0..<100 as Range<UInt64>).first {
            Self.failure(of: Simulation.script(seed: $0, length: 70), fault) != nil
        }
        #expect(found != nil)
    }

    /// Returns what is wrong after a script; nil if all properties hold.
    static func failure(of script: [Simulation.Step], _ fault: PlantedFault? = nil) -> String? {
        do {
            try Simulation(fault: fault, feed: FeedPrefetch(cards: 10)).run(script)
            return nil
        } catch {
            return String(describing: error)
        }
    }

    /// Removes steps as long as the rest still fails.
    static func shrink(_ script: [Simulation.Step]) -> [Simulation.Step] {
        var script = script
        var size = script.count / 2
        while size > 0 {
            var start = 0
            while start < script.count {
                var shorter = script
                shorter.removeSubrange(start..<min(start + size, script.count))
                if failure(of: shorter) != nil { script = shorter } else { start += size }
            }
            size /= 2
        }
        return script
    }
}
