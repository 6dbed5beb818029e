import Glibc
import Postgres
import TestBasics
import TestSupport
import Testing

/// Apps that change libraries and follow the changes, while random faults happen to the server, the database, and the
/// connections between them.
///
/// Afterwards each library contains exactly the confirmed changes, nothing was made twice, and each subscription has
/// received the log without gaps or repetitions.
///
/// `BOOKPLATE_TEST_SEED` sets the seed of the faults and changes, `BOOKPLATE_TEST_FAULT_SECONDS` the time during which faults
/// happen.
@Suite struct FaultTests {
    private static let readerCount = 6

    @Test func confirmedChangesSurviveFaultsAndReachSubscribersOnce() async throws {
        let seed = SeededGenerator.testSeed
        let seconds =
            getenv("BOOKPLATE_TEST_FAULT_SECONDS").flatMap { Int(String(cString: $0)) } ?? 30
        print("FaultTests: BOOKPLATE_TEST_SEED=\(seed) BOOKPLATE_TEST_FAULT_SECONDS=\(seconds)")
        do {
            try await causeFaults(seed: seed, seconds: seconds)
        } catch {
            Issue.record("seed \(seed): \(error)")
        }
    }

    private func causeFaults(seed: UInt64, seconds: Int) async throws {
        var random = SeededGenerator(seed)
        let cluster = try await FaultCluster()
        let installation = try await Installation.ready(on: cluster.cluster)
        let cards = try await installation.database.withConnection {
            try $0.query("SELECT id::text FROM editions ORDER BY title").decode(String.self)
        }
        let proxy = try FaultProxy(to: cluster.primary.socket)
        defer { proxy.stop() }
        let system = try await FaultySystem(installation, cluster, proxy)
        var readers: [FaultReader] = []
        defer { for reader in readers { reader.follower.stop() } }
        for index in 0..<Self.readerCount {
            readers.append(
                try await .make("reader \(index)", installation, client: system.client))
        }

        var faultRandom = SeededGenerator(random.next())
        let writers = try await FaultReader.write(
            readers, client: system.client, cards: cards, random: &random
        ) {
            try await system.causeFaults(until: .now + .seconds(seconds), &faultRandom)
        }
        let repeated = writers.reduce(0) { $0 + $1.repeatedCount }
        let confirmed = writers.reduce(0) { $0 + $1.progress.confirmedCount }
        print(
            "FaultTests: \(await system.summary);",
            "\(confirmed) changes were confirmed, \(repeated) requests were repeated")
        #expect(repeated > 0, "no fault has interrupted a request; seed \(seed)")
        let ownerURL = try installation.database.url(
            as: TestCluster.owner, on: cluster.primary.url)
        for (reader, writer) in zip(readers, writers) {
            let comment: Comment = "\(reader.name), seed \(seed)"
            try await reader.check(writer, ownerURL: ownerURL, comment)
            #expect(reader.follower.connectionCount > 1, comment)
        }
    }
}
