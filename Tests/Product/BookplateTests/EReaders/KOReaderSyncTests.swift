import GraphQL
import GraphQLServing
import TestSupport
import Testing

@testable import Bookplate
@testable import Requests

/// Positions from KOReader, and the progress of the books that its documents are linked to.
@Suite struct KOReaderSyncTests {
    static let app = Shared { try await TestApp.start(catalog: []) }
    private static let document = "0b229176d4e8db7f6d2b5a4952368d7a"

    private func makeEReader() async throws -> EReader {
        try await EReader(try await Self.app().makeReader())
    }

    @Test func lastDeviceWins() async throws {
        let kobo = try await makeEReader()
        #expect(await kobo.pull(Self.document).json == [:])
        let pushed = await kobo.push(Self.document, 0.32, progress: "/body/p[1]")
        #expect(pushed.status == 200)
        #expect(pushed.json["document"] == .string(Self.document))
        _ = await kobo.push(
            Self.document, 0.25, progress: "56", device: "Boox", deviceID: "other")
        let pulled = await kobo.pull(Self.document)
        #expect(pulled.status == 200)
        let timestamp = try #require(pulled.json["timestamp"]?.int)
        #expect(timestamp >= pushed.json["timestamp"]?.int ?? .max)
        #expect(
            pulled.json == [
                "document": .string(Self.document), "percentage": 0.25, "progress": "56",
                "device": "Boox", "device_id": "other", "timestamp": .int(timestamp),
            ])
    }

    @Test func repeatedPositionChangesNothing() async throws {
        let kobo = try await makeEReader()
        let book = try await kobo.reader.makeBook("Dune")
        let first = await kobo.push(Self.document, 0.3)
        try await kobo.linkLast(to: book)
        try await Self.app().database.execute(
            """
            UPDATE ereader_documents SET synced_at = synced_at - interval '1 hour'
            WHERE user_id = '\(kobo.reader.id.string ?? "")'
            """)
        let before = try await kobo.documents()
        let again = await kobo.push(Self.document, 0.3)
        #expect(again.status == 200)
        #expect(again.json["timestamp"]?.int ?? .max <= (first.json["timestamp"]?.int ?? 0) - 3600)
        #expect(try await kobo.documents() == before)
        #expect(try await kobo.percents(of: book) == [30])
    }

    @Test func documentsBelongToTheirReader() async throws {
        let (kobo, other) = (try await makeEReader(), try await makeEReader())
        _ = await kobo.push(Self.document, 0.5)
        #expect(await other.pull(Self.document).json == [:])
        _ = await other.push(Self.document, 0.1)
        #expect(await kobo.pull(Self.document).json["percentage"] == 0.5)
        // A document cannot be linked to another reader's book.
        let book = try await other.reader.makeBook("Foreign")
        #expect(try await kobo.linkLast(to: book).code == "NOT_FOUND")
    }

    @Test func linkTakesOverThePositionAndStartsARead() async throws {
        let kobo = try await makeEReader()
        let book = try await kobo.reader.makeBook(["title": "Dune", "pageCount": 200])
        _ = await kobo.push(
            Self.document, 0.4,
            metadata: #"{"filename":"dune.epub","title":"Dune","authors":"Frank Herbert\nX"}"#)
        let found = try #require(try await kobo.documents().first)
        #expect(found["title"] == "Dune" && found["author"] == "Frank Herbert, X")
        #expect(found["percent"] == 40 && found["book"] == .null)
        for _ in 1...2 {
            let linked = try await kobo.linkLast(to: book)
            #expect(
                linked["linkEreaderDocument"] == ["percent": 40, "book": ["id": book]],
                "\(linked.json)")
        }
        #expect(
            try await kobo.state(of: book) == [
                "status": "READING", "currentPage": 80,
                "reads": [
                    "nodes": [
                        [
                            "outcome": "READING", "format": "EBOOK",
                            "progressEntries": ["nodes": [["percent": 40]]],
                        ]
                    ]
                ],
            ])
        // Without the link, positions are stored, but do not become progress.
        let id = found["id"] ?? .null
        _ = try await kobo.reader.requireValue(
            "mutation($id: ID!) { unlinkEreaderDocument(id: $id) { id book { id } } }", ["id": id],
            "unlinkEreaderDocument", "id")
        _ = await kobo.push(Self.document, 0.6)
        #expect(try await kobo.percents(of: book) == [40])
        #expect(await kobo.pull(Self.document).json["percentage"] == 0.6)
    }

    /// A device that reports each page does not fill the read with entries.
    @Test func positionsOfAQuarterOfAnHourAreOneEntry() async throws {
        let kobo = try await makeEReader()
        let book = try await kobo.reader.makeBook("Dune")
        _ = await kobo.push(Self.document, 0.1)
        try await kobo.linkLast(to: book)
        for percentage in [0.11, 0.12, 0.13] { _ = await kobo.push(Self.document, percentage) }
        #expect(try await kobo.percents(of: book) == [13])
        // Another device has an entry of its own.
        _ = await kobo.push(Self.document, 0.14, device: "Boox", deviceID: "other")
        _ = await kobo.push(Self.document, 0.15, device: "Boox", deviceID: "other")
        #expect(try await kobo.percents(of: book) == [15, 13])
        let user = kobo.reader.id.string ?? ""
        try await Self.app().database.execute(
            """
            UPDATE ereader_positions
            SET entry_began_at = entry_began_at - interval '15 minutes'
            WHERE user_id = '\(user)'
            """)
        _ = await kobo.push(Self.document, 0.2, device: "Boox", deviceID: "other")
        #expect(try await kobo.percents(of: book) == [20, 15, 13])
        // An entry with a note of the reader stays as it is.
        let entry = try await kobo.reader.requireValue(
            "query($id: ID!) { book(id: $id) { currentRead { progress { id } } } }", ["id": book],
            "book", "currentRead", "progress", "id")
        _ = try await kobo.reader.requireValue(
            #"mutation($id: ID!) { updateProgress(id: $id, input: {note: "Here"}) { id } }"#,
            ["id": entry], "updateProgress", "id")
        _ = await kobo.push(Self.document, 0.21, device: "Boox", deviceID: "other")
        #expect(try await kobo.percents(of: book) == [21, 20, 15, 13])
    }

    @Test func finishedBookIsNotOpenedAgainNearItsEnd() async throws {
        let kobo = try await makeEReader()
        let book = try await kobo.reader.makeBook("Dune")
        _ = await kobo.push(Self.document, 0.85)
        try await kobo.linkLast(to: book)
        // The whole book does not finish the read: the reader does.
        _ = await kobo.push(Self.document, 1)
        #expect(try await kobo.state(of: book)["status"] == "READING")
        _ = await kobo.push(Self.document, 0.85)
        let read = try await kobo.reader.requireValue(
            "query($id: ID!) { book(id: $id) { currentRead { id } } }", ["id": book], "book",
            "currentRead", "id")
        _ = try await kobo.reader.requireValue(
            "mutation($id: ID!) { finishRead(id: $id) { id } }", ["id": read], "finishRead", "id")
        for percentage in [0.99, 0.51, 0.11] {
            _ = await kobo.push(Self.document, percentage)
            #expect(try await kobo.state(of: book)["status"] == "READ", "\(percentage)")
        }
        _ = await kobo.push(Self.document, 0.02)
        let state = try await kobo.state(of: book)
        #expect(state["status"] == "READING")
        #expect(state["reads", "nodes"]?.values(of: "outcome") == ["READING", "FINISHED"])
        #expect(try await kobo.percents(of: book) == [2])
    }

    @Test func linkDoesNotOpenAFinishedBook() async throws {
        let kobo = try await makeEReader()
        let book = try await kobo.reader.makeBook("Dune", status: "READ")
        _ = await kobo.push(Self.document, 0.5)
        try await kobo.linkLast(to: book)
        #expect(try await kobo.state(of: book)["status"] == "READ")
        _ = await kobo.push(Self.document, 0.51)
        #expect(try await kobo.state(of: book)["status"] == "READ")
    }

    @Test func linkOfADeletedBookWorksAgainWhenItIsRestored() async throws {
        let kobo = try await makeEReader()
        let book = try await kobo.reader.makeBook("Dune")
        _ = await kobo.push(Self.document, 0.5)
        try await kobo.linkLast(to: book)
        let position = await kobo.progression(of: book)
        _ = try await kobo.reader.requireValue(
            "mutation($id: ID!) { deleteBook(id: $id) { id } }", ["id": book], "deleteBook")
        #expect(await kobo.push(Self.document, 0.6).status == 200)
        #expect(try await kobo.documents().first?["book"] == .null)
        _ = try await kobo.reader.requireValue(
            "mutation($id: ID!) { restoreBook(id: $id) { id } }", ["id": book], "restoreBook")
        #expect(await kobo.progression(of: book) == position)
        _ = await kobo.push(Self.document, 0.7)
        #expect(try await kobo.percents(of: book).first == 70)
    }

    @Test func purgedBookEndsTheLinksOfItsDocuments() async throws {
        let kobo = try await makeEReader()
        let book = try await kobo.reader.makeBook("Dune")
        _ = await kobo.push(Self.document, 0.5)
        try await kobo.linkLast(to: book)
        _ = try await kobo.reader.requireValue(
            "mutation($id: ID!) { deleteBook(id: $id) { id } }", ["id": book], "deleteBook")
        let database = try await Self.app().database
        let links = """
            SELECT count(*)
            FROM ereader_documents
            WHERE user_id = '\(kobo.reader.id.string ?? "")' AND book_id IS NOT NULL
            """
        #expect(try await database.count(links) == 1)
        try await database.execute(
            "UPDATE deleted_books SET deleted_at = now() - interval '31 days'")
        _ = try await database.count("SELECT purge_deleted_books(100)")
        #expect(try await database.count(links) == 0)
    }

    // MARK: - Limits

    @Test func newDocumentReplacesTheOldestWithoutALink() async throws {
        let kobo = try await makeEReader()
        let user = kobo.reader.id.string ?? ""
        try await Self.app().database.execute(
            """
            INSERT INTO ereader_documents (user_id, hash, progress, fraction, device_name, book_id, synced_at)
            SELECT '\(user)', 'd' || i, '1', 0.5, 'Kobo', CASE WHEN i = 1 THEN gen_random_uuid() END,
                now() - (20000 - i) * interval '1 minute'
            FROM generate_series(1, 10000) i
            """)
        #expect(await kobo.push(Self.document, 0.5).status == 200)
        let count = "SELECT count(*) FROM ereader_documents WHERE user_id = '\(user)'"
        #expect(try await Self.app().database.count(count) == 10_000)
        #expect(await kobo.pull("d1").json != [:])
        #expect(await kobo.pull("d2").json == [:])
        #expect(await kobo.pull(Self.document).json != [:])
        try await Self.app().database.execute(
            "UPDATE ereader_documents SET book_id = gen_random_uuid() WHERE user_id = '\(user)'")
        let refused = await kobo.push("new", 0.5)
        #expect(refused.status == 403 && refused.json["code"] == 2003)
        #expect(refused.json["message"]?.string?.contains("10000 documents") == true)
    }

    @Test func fullReadIsAnError() async throws {
        let kobo = try await makeEReader()
        let book = try await kobo.reader.makeBook("Dune", status: "READING")
        _ = await kobo.push(Self.document, 0.5)
        try await kobo.linkLast(to: book)
        let user = kobo.reader.id.string ?? ""
        try await Self.app().database.execute(
            """
            INSERT INTO progress_entries (user_id, id, read_id, at, percent, note)
            SELECT r.user_id, gen_random_uuid(), r.id, now() - i * interval '1 minute', 1, 'x'
            FROM reads r, generate_series(1, 9999) i
            WHERE r.user_id = '\(user)';
            UPDATE ereader_positions
            SET entry_began_at = entry_began_at - interval '1 day'
            WHERE user_id = '\(user)'
            """)
        let refused = await kobo.push(Self.document, 0.6)
        #expect(refused.status == 403)
        #expect(refused.json["message"]?.string?.contains("10000 progress entries") == true)
        #expect(await kobo.pull(Self.document).json["percentage"] == 0.5)
        let locked = await kobo.put(0.6, at: "2099-01-01T00:00:00Z", in: book)
        #expect(locked.status == 400)
    }

    // MARK: - Authentication

    @Test func failedAttemptsAreLimitedByAddress() async throws {
        let app = try await TestApp.start(catalog: [], rates: RateLimits(.init(signIns: 2)))
        let reader = try await app.makeReader()
        var kobo = try await EReader(reader)
        var thief = try await EReader(reader, secret: "bp_wrong")
        kobo.address = ClientAddress(high: 0, low: 0xFFFF_0A00_0001)
        thief.address = kobo.address
        // Successful attempts do not count.
        for _ in 1...5 { #expect(await kobo.authorize().status == 200) }
        for _ in 1...2 { #expect(await thief.authorize().status == 401) }
        #expect(await thief.authorize().status == 429)
        // A token that the server has looked up before is not affected by the attempts of others.
        #expect(await kobo.authorize().status == 200)
        var other = try await EReader(reader)
        other.address = kobo.address
        #expect(await other.authorize().status == 429)
        kobo.address = ClientAddress(high: 0, low: 0xFFFF_0A00_0002)
        #expect(await kobo.authorize().status == 200)
    }

    @Test func credentialsAreChecked() async throws {
        let kobo = try await makeEReader()
        #expect(await kobo.authorize().json == ["authorized": "OK"])
        #expect(TokenCredential(koreaderUser: nil, key: "x") == nil)
        #expect(TokenCredential(koreaderUser: "ada", key: "") == nil)
        for secret in ["", "x", kobo.secret + "x", kobo.secret.lowercased(), kobo.reader.token] {
            let other = try await EReader(kobo.reader, secret: secret)
            #expect(
                await other.authorize()
                    == .init(
                        status: 401, json: ["code": 2001, "message": "Unauthorized"],
                        isEmpty: false))
        }
    }
}
