import Bookplate
import Config
import Glibc
import GraphQL
import ObjectStorage
import Operations
import Postgres
import S3Storage
import TestBasics
import TestSupport
import Testing

/// Servers that are killed while they replace covers. Each kill interrupts the running uploads at different steps.
///
/// `BOOKPLATE_TEST_SEED` sets the seed of the times at which the servers are killed.
@Suite struct KilledServerTests {
    private static let kills = 13
    private static let concurrentUploads = 8

    @Test(arguments: TestStore.fast)
    func oneSweepAfterEachKillLeavesNoDamage(storage: TestStore) async throws {
        let seed = SeededGenerator.testSeed
        print("KilledServerTests: BOOKPLATE_TEST_SEED=\(seed)")
        var random = SeededGenerator(seed)
        let installation = try await Installation.ready(catalog: [])
        let variables = try await variables(storage, installation)
        let store = try Configuration(variables).storage.open(
            leases: DatabaseLeases(adminURL: installation.database.url(as: TestCluster.owner)))
        let connection = try AdminConnection(try installation.database.url(as: TestCluster.owner))
        var server = try await installation.startServer(variables)
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
            if kill > 0 { server = try await installation.startServer(variables) }
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

            try await sweep(store, connection, &removed, "after kill \(kill), seed \(seed)")
        }
        // No server runs, so no write is in progress: this is the state after the leases of a bucket have expired.
        try connection.execute("UPDATE object_writes SET expires_at = now()")
        try await sweep(store, connection, &removed, "at the end, seed \(seed)")
        #expect(try await installation.database.count("SELECT count(*) FROM object_writes") == 0)
        #expect(interruptedCount >= 100, "\(interruptedCount) uploads were interrupted")
        // Without these, no kill has interrupted an upload in a critical step.
        #expect(
            removed.deadWrites > 0 && removed.orphans + removed.removedCovers > 0, "\(removed)")
    }

    /// Sweeps the store, and checks that its files and the rows are consistent.
    ///
    /// A bucket may still process a request of the killed server. Another sweep removes what it stores.
    private func sweep(
        _ store: any ObjectStore, _ connection: AdminConnection,
        _ removed: inout StorageSweep.Summary, _ comment: Comment
    ) async throws {
        let attemptsMax = store is FileStore ? 1 : 5
        for attempt in 1...attemptsMax {
            let sweep = try await StorageSweep(
                store, graceSeconds: 0, isDryRun: false, connection
            ).run()
            removed.deadWrites += sweep.deadWrites
            removed.orphans += sweep.orphans
            removed.removedCovers += sweep.removedCovers
            let verification = try await StorageVerification(
                store, graceSeconds: 0, connection
            ).run()
            if verification.isSound { return }
            #expect(attempt < attemptsMax, "\(comment): \(verification)")
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    private func variables(
        _ storage: TestStore, _ installation: Installation
    ) async throws -> [String: String] {
        switch storage {
        case .files: ["BOOKPLATE_STORAGE": "file:\(installation.folder)/objects"]
        case .bucket, .swift:
            try await S3Server.shared().variables(
                prefix: "killed-\(UInt64.random(in: 0...UInt64.max))")
        }
    }
}
