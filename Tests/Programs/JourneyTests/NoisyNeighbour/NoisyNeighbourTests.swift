import Config
import Glibc
import GraphQL
import SocketClient
import Synchronization
import TestSupport
import Testing

/// One account attacks the server on many connections while another reader uses it, with the limits of production.
///
/// A run of all tests lets each attack last about a second, and calls several root fields in one attack. It counts: no request
/// of the other reader fails, and the attacker gets at most the units of its limit.
///
/// `scripts/check neighbours` sets `BOOKPLATE_TEST_NEIGHBOUR_SECONDS` to the duration of an attack. Each root field is then an
/// attack of its own, and the tests also compare times: the median of the other reader stays below five times its median without
/// an attack.
@Suite(.serialized) struct NoisyNeighbourTests {
    /// The duration of an attack in `scripts/check neighbours`; nil in a run of all tests.
    private static let seconds = getenv("BOOKPLATE_TEST_NEIGHBOUR_SECONDS").flatMap {
        Double(String(cString: $0))
    }
    private static var duration: Duration { .seconds(seconds ?? 1) }
    private static var attacks: [Attack] {
        get throws {
            try Attack.known() + Attack.generated(fields: seconds == nil ? 6 : 1)
        }
    }
    private static let factorMax = 5.0
    private static let cardCount = 8_282

    private static let installation = Shared {
        try await Installation.ready(catalog: try StarterCatalog.lines(cardCount))
    }

    private static let neighbourhood = Shared {
        let installation = try await Self.installation()
        let neighbourhood = try await Neighbourhood(
            installation, attackers: try attacks.count)
        try await neighbourhood.measureIdle(for: .seconds(seconds.map { max($0, 5) } ?? 3))
        return neighbourhood
    }

    @Test(arguments: try Self.attacks.enumerated().map { NumberedAttack(number: $0, attack: $1) })
    func anAttackDoesNotStopAnotherReader(attack: NumberedAttack) async throws {
        let neighbourhood = try await Self.neighbourhood()
        let result = try await neighbourhood.run(
            attack.attack, by: attack.number, for: Self.duration)
        check(result, neighbourhood)
    }

    /// A scan that external sources answer does not wait for the covers of another reader's import.
    @Test func scansComeBeforeTheCoversOfAnImport() async throws {
        let neighbourhood = try await Neighbourhood(
            try await Installation.ready(catalog: TestCatalog.lines(100)), attackers: 1, books: 10)
        try await neighbourhood.measureIdle(for: .seconds(5))
        let result = try await neighbourhood.run(
            .coverSearches(books: 492), by: 0,
            for: Self.seconds.map { .seconds(max(20, $0)) } ?? .seconds(6),
            scanning: Neighbourhood.unknownISBNs, afterSourceRequests: 40)
        check(result, neighbourhood)
        let times = result.reader.sourceMilliseconds
        #expect(!times.isEmpty)
        if Self.seconds != nil {
            #expect(times.percentile(0.5) < Self.factorMax * neighbourhood.idleSourceMedian)
        }
    }

    /// The server cannot accept more connections than it has descriptors. It waits until there is room, without using the
    /// processor, and answers the connections that it has.
    @Test func connectionsBeyondTheDescriptorsDoNotStopAnotherReader() async throws {
        let neighbourhood = try await Neighbourhood(
            try await Installation.ready(catalog: TestCatalog.lines(100)), attackers: 1, books: 10,
            by: ["prlimit", "--nofile=256"])
        try await neighbourhood.measureIdle(for: .seconds(2))
        let hold = Attack(name: "connections beyond the descriptors", connections: 4, stepsMax: 100)
        {
            _, _ in .hold
        }
        let result = try await neighbourhood.run(hold, by: 0, for: .seconds(3))
        check(result, neighbourhood)
        #expect(
            result.work.server < neighbourhood.idleServerWork(result.duration) + 500,
            "the server used \(result.work.server) ms of CPU")
    }

    /// The server returns the memory that the attacks needed.
    @Test(.enabled(if: seconds != nil && getenv("ASAN_OPTIONS") == nil))
    func memoryReturnsWithinAMinute() async throws {
        let neighbourhood = try await Neighbourhood(
            try await Self.installation(), attackers: Self.attacks.count)
        let start = try neighbourhood.server.program.memoryBytes("VmRSS")
        for (number, attack) in try Self.attacks.enumerated() {
            _ = try await neighbourhood.run(attack, by: number, for: .seconds(1))
        }
        let peak = try neighbourhood.server.program.memoryBytes("VmHWM")
        try await Task.sleep(for: .seconds(60))
        let end = try neighbourhood.server.program.memoryBytes("VmRSS")
        print(
            "memory: \(start >> 20) MB at the start, at most \(peak >> 20) MB, \(end >> 20) MB after a minute"
        )
        #expect(start < 60 << 20)
        #expect(end < 100 << 20)
    }

    private func check(_ result: AttackResult, _ neighbourhood: Neighbourhood) {
        #expect(
            result.reader.failures.isEmpty,
            "\(result.reader.failures.count) failed, such as \(result.reader.failures.first ?? "")")
        #expect(result.attack.answered + result.attack.failed <= result.unitsMax)
        #expect(
            result.attack.internalErrors == 0, "\(result.attack.examples["internal error"] ?? "")")
        if let units = result.units {
            // A unit is 10 ms of PostgreSQL's work. The background work that requests cause is not charged.
            let charged = units + result.unitsRefilled
            let workMax = 2 * 10 * charged + neighbourhood.idlePostgresWork(result.duration) + 1_500
            #expect(
                result.work.postgres <= workMax,
                "PostgreSQL worked for \(result.work.postgres) ms, and at most \(charged) units were charged"
            )
        }
        guard Self.seconds != nil else { return }
        let median = result.reader.milliseconds.percentile(0.5)
        #expect(median < Self.factorMax * neighbourhood.idleMedian, "the median is \(median) ms")
    }
}

struct NumberedAttack: Sendable, CustomTestStringConvertible {
    let number: Int
    let attack: Attack

    var testDescription: String { attack.name }
}
