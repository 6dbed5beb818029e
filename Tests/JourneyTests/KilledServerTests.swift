import Bookplate
import Glibc
import GraphQL
import ObjectStorage
import Postgres
import TestSupport
import Testing

/// Servers that are killed while they replace covers. Each kill interrupts the running uploads at different steps.
///
/// `BOOKPLATE_TEST_SEED` sets the seed of the times at which the servers are killed.
@Suite struct KilledServerTests {
    private static let kills = 13
    private static let concurrentUploads = 8

    @Test func oneSweepAfterEachKillLeavesNoDamage() async throws {
        let seed =
            getenv("BOOKPLATE_TEST_SEED").flatMap { UInt64(String(cString: $0)) }
            ?? .random(in: 0...UInt64.max)
        print("KilledServerTests: BOOKPLATE_TEST_SEED=\(seed)")
        var random = SeededGenerator(seed)
        let installation = try await Installation.ready(catalog: [])
        let store = try FileStore("\(installation.folder)/.bookplate/objects")
        let connection = try AdminConnection(try installation.database.url(as: TestCluster.owner))
        var server = try await installation.startServer()
        let session = try await server.signIn("keeper")
        let user = try #require(session["user", "id"]?.string)
        let token = session["accessToken"]?.string
        var books: [String] = []
        for index in 0..<Self.concurrentUploads / 2 {
            let created = try await server.client.execute(
                #"mutation { createBook(input: {title: "Book \#(index)"}) { id } }"#, token: token)
            books.append(try #require(created["data", "createBook", "id"]?.string))
        }
        var interruptedCount = 0
        var removed = StorageSweep.Summary()
        for kill in 0..<Self.kills {
            if kill > 0 { server = try await installation.startServer() }
            let uploads = (0..<Self.concurrentUploads).map { upload in
                // Two uploads replace each cover at the same time.
                let path = "/book-covers/\(user)/\(books[upload % books.count]).jpg"
                return Task { [client = server.client] in
                    for number in 0... {
                        let image = TestImage.png(seed: UInt64(kill << 32 | upload << 16 | number))
                        let put = try? await client.send("PUT", path, token: token, bytes: image)
                        guard let put else { return true }
                        guard put.status < 300 else { return false }
                    }
                    return false
                }
            }
            // A random delay, so that the kill interrupts the uploads at random steps.
            try await Task.sleep(for: .milliseconds(Int.random(in: 20...120, using: &random)))
            server.program.send(SIGKILL)
            for upload in uploads { interruptedCount += await upload.value ? 1 : 0 }

            let sweep = try await StorageSweep(
                store, graceSeconds: 0, isDryRun: false, connection
            ).run()
            removed.deadWrites += sweep.deadWrites
            removed.orphans += sweep.orphans
            removed.removedCovers += sweep.removedCovers
            let verification = try await StorageVerification(
                store, graceSeconds: 0, connection
            ).run()
            #expect(verification.isSound, "after kill \(kill), seed \(seed): \(verification)")
        }
        #expect(interruptedCount >= 100, "\(interruptedCount) uploads were interrupted")
        // Without these, no kill has interrupted an upload in a critical step.
        #expect(
            removed.deadWrites > 0 && removed.orphans + removed.removedCovers > 0, "\(removed)")
    }
}
