import Glibc
import GraphQL
import Postgres
import TestBasics
import TestSupport
import Testing

/// The reference deployment of the folder `deploy` loses machines and processes, while readers change their libraries and follow
/// the changes.
///
/// `BOOKPLATE_TEST_SEED` sets the seed of the changes.
@Suite(.serialized) struct FailoverTests {
    private static let recordCount = 4000
    private static let readerCount = 8

    /// `scripts/check faults` also runs the second test.
    private static let runsAll = getenv("BOOKPLATE_TEST_FAULT_SECONDS") != nil

    private let deployment: Deployment
    private let client: HTTPClient
    private let readers: [FaultReader]
    /// A reader who makes no other changes.
    private let importer: FaultReader

    init() async throws {
        deployment = try await Deployment.start()
        client = deployment.client
        // Servers in production accept such tokens, but only a development environment issues them.
        let variables = deployment.adminVariables.merging(["BOOKPLATE_ENV": "development"]) { $1 }
        var readers: [FaultReader] = []
        for index in 0..<Self.readerCount {
            readers.append(
                try await .make(
                    "reader \(index)", deployment.installation, variables, client: client))
        }
        self.readers = readers
        importer = try await .make(
            "importer", deployment.installation, variables, client: client)
    }

    /// The primary's machine is killed during an import, then a server, and then the machine of the synchronous standby.
    @Test func noConfirmedChangeIsLostWithOneOfThreeMachines() async throws {
        let cover = try await putCover()
        try await whileReadersWrite {
            let id = try await client.importLibrary(
                TestLibraryFile.csv(records: Self.recordCount), token: importer.token)
            try await deployment.wait("the import has progressed") {
                (await progress(of: id)["done"]?.int ?? 0) > 0
            }
            let primary = try #require(await deployment.primary())
            #expect(await progress(of: id)["state"] != "DONE")
            primary.kill()
            try await waitUntilAllWrite(after: "the loss of the primary's machine")
            try await deployment.wait("the import is done") {
                await progress(of: id)["state"] == "DONE"
            }
            try await deployment.restart(primary)

            deployment.machines[1].killServer()
            try await waitUntilAllWrite(after: "the loss of a server")
            try await deployment.startServer(on: deployment.machines[1])

            try await deployment.wait("one standby is synchronous") {
                await deployment.synchronousStandby() != nil
            }
            try #require(await deployment.synchronousStandby()).kill()
            try await waitUntilAllWrite(after: "the loss of the synchronous standby")
        }
        try await checkImport()
        #expect(try await client.send("GET", cover).status == 200)
    }

    /// The primary's machine stops, and continues after another machine has replaced it. Its PostgreSQL accepts writes until Patroni
    /// notices, but no standby confirms them.
    @Test(.enabled(if: runsAll)) func noConfirmedChangeIsLostWithAFrozenPrimary() async throws {
        try await whileReadersWrite {
            let primary = try #require(await deployment.primary())
            primary.freeze()
            try await waitUntilAllWrite(after: "the primary's machine has stopped")
            primary.resume()
            try await deployment.wait("the machine is a standby") { await primary.has("replica") }
            try await waitUntilAllWrite(after: "it has continued as a standby")
        }
    }

    /// Runs `failures` while all readers change their libraries, and checks the libraries and the subscriptions afterwards.
    private func whileReadersWrite(_ failures: () async throws -> Void) async throws {
        defer { for reader in readers + [importer] { reader.follower.stop() } }
        let seed = SeededGenerator.testSeed
        print("FailoverTests: BOOKPLATE_TEST_SEED=\(seed)")
        var random = SeededGenerator(seed)
        let writers = try await FaultReader.write(readers, client: client, random: &random) {
            try await waitUntilAllWrite(after: "the start")
            try await failures()
        }
        for (reader, writer) in zip(readers, writers) {
            try await reader.check(
                writer, ownerURL: deployment.ownerURL, "\(reader.name), seed \(seed)")
        }
        try await importer.checkLog(ownerURL: deployment.ownerURL, "importer, seed \(seed)")
    }

    /// Waits until the server has confirmed a change of each reader that was sent after this call, and prints the time.
    private func waitUntilAllWrite(after event: String) async throws {
        // The response to an earlier request may still arrive.
        let needed = readers.map { ($0.progress, $0.progress.confirmedCount + 2) }
        let start = ContinuousClock.now
        try await deployment.wait("all readers write") {
            needed.allSatisfy { $0.0.confirmedCount >= $0.1 }
        }
        print("FailoverTests: all readers wrote \(ContinuousClock.now - start) after \(event)")
    }

    /// Stores a cover in the bucket, and returns the path of its URL.
    private func putCover() async throws -> String {
        let created = try await client.execute(
            #"mutation { createBook(input: {title: "Dune"}) { id } }"#, token: importer.token)
        let book = try #require(created["data", "createBook", "id"]?.string, "\(created)")
        let path = "/book-covers/\(importer.id)/\(book).jpg"
        let response = try await client.send(
            "PUT", path, token: importer.token,
            bytes: TestImage.png(width: 70, height: 100, seed: 1))
        #expect(response.status == 201, "\(response.body)")
        return path
    }

    private func progress(of id: String) async -> Value {
        let response = try? await client.execute(
            "query($id: ID!) { node(id: $id) { ... on Import { state done } } }",
            ["id": .string(id)], token: importer.token)
        return response?["data", "node"] ?? .null
    }

    /// Checks that each record of the file has become one book.
    private func checkImport() async throws {
        let titles = try await blocking { [url = deployment.ownerURL, id = importer.id] in
            try AdminConnection(url).query(
                "SELECT title FROM books WHERE user_id = '\(id)' AND title LIKE 'Title %'"
            ).decode(String.self)
        }
        #expect(titles.sorted() == (1...Self.recordCount).map { "Title \($0)" }.sorted())
        let created = importer.follower.events.filter { $0.kind == "CREATED" }.map(\.id)
        #expect(created.count >= Self.recordCount)
        #expect(Set(created).count == created.count)
    }
}
