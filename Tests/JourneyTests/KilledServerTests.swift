import Bookplate
import Glibc
import GraphQL
import ObjectStorage
import Postgres
import TestSupport
import Testing

/// Servers that are killed while covers are being replaced: each upload under way is killed at another point of its way.
@Suite struct KilledServerTests {
    private static let kills = 13
    private static let uploadsAtOnce = 8

    @Test func afterOneSweepEachCoverHasItsPictureAndNothingIsLeft() async throws {
        let installation = try await Installation.ready(catalog: [])
        let store = try FileStore("\(installation.folder)/.bookplate/objects")
        let connection = try AdminConnection(try installation.database.url(as: TestCluster.owner))
        var server = try await installation.startServer()
        let session = try await server.signIn("keeper")
        let user = try #require(session["user", "id"]?.string)
        let token = session["accessToken"]?.string
        var books: [String] = []
        for index in 0..<Self.uploadsAtOnce / 2 {
            let made = try await server.client.execute(
                #"mutation { createBook(input: {title: "Book \#(index)"}) { id } }"#, token: token)
            books.append(try #require(made["data", "createBook", "id"]?.string))
        }
        var interrupted = 0
        var left = StorageSweep.Summary()
        for kill in 0..<Self.kills {
            if kill > 0 { server = try await installation.startServer() }
            let uploads = (0..<Self.uploadsAtOnce).map { upload in
                // Two uploads of each cover are under way at any time.
                let path = "/book-covers/\(user)/\(books[upload % books.count]).jpg"
                return Task { [client = server.client] in
                    for seed in 0... {
                        let image = TestImage.png(seed: UInt64(kill << 32 | upload << 16 | seed))
                        let put = try? await client.send("PUT", path, token: token, bytes: image)
                        guard let put else { return true }
                        guard put.status < 300 else { return false }
                    }
                    return false
                }
            }
            try await Task.sleep(for: .milliseconds(Int.random(in: 20...120)))
            server.program.send(SIGKILL)
            for upload in uploads { interrupted += await upload.value ? 1 : 0 }

            let swept = try await StorageSweep(
                store, graceSeconds: 0, isDryRun: false, connection
            ).run()
            left.deadWrites += swept.deadWrites
            left.orphans += swept.orphans
            left.removedCovers += swept.removedCovers
            let found = try await StorageVerification(
                store, graceSeconds: 0, connection
            ).run()
            #expect(found.isSound, "after kill \(kill): \(found)")
        }
        #expect(interrupted >= 100, "\(interrupted) uploads were killed")
        // Otherwise the kills have met nothing.
        #expect(left.deadWrites > 0 && left.orphans + left.removedCovers > 0, "\(left)")
    }
}
