import GraphQLServing
import Glibc
import GraphQL
import LoopbackHTTP
import Synchronization
import TestBasics
import TestSupport
import Testing

@testable import Bookplate
@testable import JobQueue

/// Requests for the covers of many books.
extension CoverRequestTests {
    // MARK: - Bulk requests

    @Test func bulkMutationsRequestCovers() async throws {
        let world = try await CoverWorld.start(catalog: TestCatalog.lines(60))
        await world.worker.stop()
        let (reader, other) = (
            try await world.app.makeReader(), try await world.app.makeReader(.beta)
        )
        _ = try await other.makeBook(["title": "Theirs", "fetchCover": false])
        let made = try await reader.requireValue(
            """
            mutation { createBooks(inputs: [
              {title: "One"}, {title: "Two", fetchCover: false}, {title: ""}, {title: "Three", fetchCover: true}
            ]) { book { coverStatus } } }
            """, .null, "createBooks")
        #expect(
            made.list?.map { $0["book", "coverStatus"]?.string } == [
                "FETCHING", "NO_COVER", nil, "FETCHING",
            ])
        let cards = try await reader.feedCards(3)
        let swiped = try await reader.swipe("BUY", cards.map { $0["id"] ?? .null })
        #expect(swiped["recordSwipes", "saved"]?.list?.count == 3)
        _ = try await reader.swipe("SKIP", [try await reader.feedCards(1)[0]["id"] ?? .null])
        func jobs(_ reader: TestReader) async throws -> Int {
            try await world.app.database.count(
                """
                SELECT count(*) FROM jobs j JOIN books b ON b.user_id = j.user_id AND b.id::text = j.key
                WHERE j.kind = 'cover.fetch' AND b.user_id = '\(reader.id.string ?? "")'
                """)
        }
        #expect(try await jobs(reader) == 5)
        #expect(try await jobs(other) == 0)
        #expect(
            try await world.app.database.count(
                "SELECT count(*) FROM books WHERE cover_status = 'FETCHING'") == 5)
    }

    @Test func importsRequestCovers() async throws {
        let app = try await TestApp.start()
        let reader = try await app.makeReader()
        _ = try await reader.makeBook("Here already")
        let file = Array(
            "Title,Author,ISBN13,My Rating,Bookshelves,Exclusive Shelf\nA,B,,0,,read\nC,D,,0,,read\n"
                .utf8)
        let response = try await app.execute(
            "mutation($file: Upload!) { importLibrary(input: {file: $file, format: GOODREADS}) { id } }",
            ["file": UploadReference.value(0)], token: reader.token, uploads: [file])
        #expect(response.errors.isEmpty, "\(response.json)")
        let worker = try await TestWorker.start(
            app.database, [ImportLibrary(covers: app.covers, canSearch: true)])
        try await waitUntil("the import is done") {
            try await app.database.count("SELECT count(*) FROM imports WHERE state = 'DONE'") == 1
        }
        await worker.stop()
        #expect(
            try await app.database.count(
                """
                SELECT count(*) FROM books b JOIN jobs j ON j.key = b.id::text
                WHERE b.cover_status = 'FETCHING' AND j.kind = 'cover.fetch' AND j.priority = 10
                """) == 2)
        #expect(
            try await app.database.count("SELECT count(*) FROM jobs WHERE kind = 'cover.fetch'")
                == 2)
    }

    /// Repeating a `createBook` whose response was lost does not start another search.
    @Test func repeatedCreateBookSearchesOnce() async throws {
        let world = try await CoverWorld.start()
        let reader = try await world.app.makeReader()
        let input: Value = ["id": "0198c0de-0000-7000-8000-000000000001", "title": "Dune"]
        let id = try await reader.makeBook(input)
        _ = try await world.bookAfterSearch(reader, id)
        _ = try await reader.makeBook(input)
        #expect(try await world.book(reader, id)["coverStatus"] == "NOT_FOUND")
        await world.worker.stop()
    }

    @Test func fetchMissingCoversRequestsEachCoverOnce() async throws {
        let world = try await CoverWorld.start()
        let (reader, other) = (
            try await world.app.makeReader(), try await world.app.makeReader(.beta)
        )
        _ = try await other.makeBook(["title": "Theirs", "fetchCover": false])
        var books: [Value] = []
        for index in 0..<4 {
            books.append(
                try await reader.makeBook([
                    "title": .string("Book \(index)"), "fetchCover": false,
                ]))
        }
        _ = try await reader.setCover(Self.set, books[0], TestImage.png())
        await world.worker.stop()
        let fetch = "mutation { fetchMissingCovers { queued } }"
        #expect(try await reader.execute(fetch)["fetchMissingCovers", "queued"] == 3)
        #expect(try await reader.execute(fetch)["fetchMissingCovers", "queued"] == 0)
        #expect(
            try await world.app.database.count(
                "SELECT count(*) FROM jobs WHERE kind = 'cover.fetch' AND priority = 10") == 3)
        // A book whose search found nothing yesterday is searched for again.
        try await world.app.database.execute(
            """
            UPDATE books SET cover_status = 'NOT_FOUND', cover_requested_at = NULL, \
            cover_not_found_at = now() - interval '25 hours' WHERE title = 'Book 3'
            """)
        #expect(try await reader.execute(fetch)["fetchMissingCovers", "queued"] == 1)
        #expect(
            try await world.app.database.count(
                "SELECT count(*) FROM books WHERE cover_status = 'FETCHING' AND user_id = '\(other.id.string ?? "")'"
            ) == 0)
        #expect(try await world.app.execute(fetch).code == "UNAUTHENTICATED")
    }

    /// A book whose search found nothing recently is skipped, unless the book was changed or the reader requests its
    /// cover.
    @Test func fetchMissingCoversSkipsRecentMisses() async throws {
        let world = try await CoverWorld.start()
        let reader = try await world.app.makeReader()
        let id = try await reader.makeBook(["title": "Nothing", "authors": [["name": "Nobody"]]])
        #expect(try await world.bookAfterSearch(reader, id)["coverStatus"] == "NOT_FOUND")
        let fetch = "mutation { fetchMissingCovers { queued } }"
        #expect(try await reader.execute(fetch)["fetchMissingCovers", "queued"] == 0)
        let renamed = try await reader.execute(
            "mutation($b: ID!) { updateBook(id: $b, input: {title: \"Something\"}) { id } }",
            ["b": id])
        #expect(renamed.errors.isEmpty, "\(renamed.json)")
        #expect(try await reader.execute(fetch)["fetchMissingCovers", "queued"] == 1)
        #expect(try await world.bookAfterSearch(reader, id)["coverStatus"] == "NOT_FOUND")
        #expect(try await reader.execute(fetch)["fetchMissingCovers", "queued"] == 0)
        let one = try await reader.execute(Self.search, ["book": id])
        #expect(one["setCover", "coverStatus"] == "FETCHING")
        await world.worker.stop()
    }

    /// The reader does not want the cover that the search would find again.
    @Test func fetchMissingCoversSkipsRemovedCovers() async throws {
        let world = try await CoverWorld.start()
        let reader = try await world.app.makeReader()
        await world.worker.stop()
        let id = try await reader.makeBook(["title": "Plain"])
        let fetch = "mutation { fetchMissingCovers { queued } }"
        let removed = try await reader.execute(
            "mutation($b: ID!) { removeCover(id: $b) { id } }", ["b": id])
        #expect(removed.errors.isEmpty, "\(removed.json)")
        #expect(try await reader.execute(fetch)["fetchMissingCovers", "queued"] == 0)
        let one = try await reader.execute(Self.search, ["book": id])
        #expect(one["setCover", "coverStatus"] == "FETCHING")
    }

    /// A search that continues after the reader was notified is not started again.
    @Test func fetchMissingCoversSkipsRunningSearches() async throws {
        let world = try await CoverWorld.start()
        let reader = try await world.app.makeReader()
        await world.worker.stop()
        _ = try await reader.makeBook(["title": "Slow"])
        try await world.app.database.execute(
            "UPDATE books SET cover_status = 'NOT_FOUND', cover_requested_at = now() - interval '5 minutes'"
        )
        let fetch = "mutation { fetchMissingCovers { queued } }"
        #expect(try await reader.execute(fetch)["fetchMissingCovers", "queued"] == 0)
        try await world.app.database.execute(
            "UPDATE books SET cover_requested_at = now() - interval '2 hours'")
        #expect(try await reader.execute(fetch)["fetchMissingCovers", "queued"] == 1)
    }

    @Test func fetchMissingCoversIsLimitedToFiveHundredBooks() async throws {
        let world = try await CoverWorld.start()
        await world.worker.stop()
        let reader = try await world.app.makeReader()
        try await world.app.database.execute(
            """
            INSERT INTO books (user_id, id, title, added_at)
            SELECT '\(reader.id.string ?? "")', gen_random_uuid(), 'Book ' || n, now() - n * interval '1 hour'
            FROM generate_series(1, 510) n
            """)
        let fetch = "mutation { fetchMissingCovers { queued } }"
        let first = try await reader.execute(fetch)
        #expect(first["fetchMissingCovers", "queued"] == 500)
        #expect(first.roundTrips == 2)
        // The newest books come first.
        #expect(
            try await world.app.database.count(
                "SELECT count(*) FROM books WHERE cover_status = 'FETCHING' AND title = 'Book 500'")
                == 1)
        #expect(try await reader.execute(fetch)["fetchMissingCovers", "queued"] == 10)
    }
}
