import Glibc
import GraphQL
import LoopbackHTTP
import Synchronization
import TestSupport
import Testing

@testable import Bookplate

/// Who wishes for covers, what readers do meanwhile, and when they are told.
@Suite struct CoverWishTests {
    private static let set = """
        mutation($book: ID!, $image: Upload!) {
          setCover(bookId: $book, source: {image: $image}) { coverUrl coverStatus cover { source } }
        }
        """
    private static let search = """
        mutation($book: ID!) {
          setCover(bookId: $book, source: {search: true}) { coverUrl coverStatus cover { source } }
        }
        """

    /// A world whose picture of the fox waits until it may go.
    private static func waiting() async throws -> (CoverWorld, opened: Gate) {
        let world = try await CoverWorld.start()
        let gate = Gate()
        world.knowFox()
        let image = TestImage.png(width: 400, height: 600)
        world.setResponse(CoverWorld.foxPicture) {
            gate.wait()
            return CoverWorld.image(image)
        }
        return (world, gate)
    }

    /// Holds a server's answer back.
    private final class Gate: Sendable {
        private let isOpen = Atomic(false)
        func open() { isOpen.store(true, ordering: .relaxed) }
        func wait() {
            for _ in 0..<2000 where !isOpen.load(ordering: .relaxed) {
                usleep(2000)
            }
        }
    }

    /// Makes the fox, and waits until its picture is asked for.
    private static func fox(_ world: CoverWorld, _ reader: TestReader) async throws -> Value {
        let id = try await reader.makeBook(["title": "Fox", "isbn": .string(CoverWorld.fox)])
        try await waitUntil("the picture is asked for") {
            !world.requests(CoverWorld.foxPicture).isEmpty
        }
        return id
    }

    // MARK: - Meanwhile

    @Test func anUploadMeanwhileStays() async throws {
        let (world, gate) = try await Self.waiting()
        let reader = try await world.app.makeReader()
        let id = try await Self.fox(world, reader)
        let mine = try await reader.setCover(Self.set, id, TestImage.png(seed: 7))
        #expect(mine["setCover", "coverStatus"] == "READY")
        gate.open()
        let book = try await world.settled(reader, id)
        #expect(book["cover", "source"] == "MANUAL_UPLOAD")
        #expect(book["coverUrl"] == mine["setCover", "coverUrl"])
        #expect(try await world.files(reader).count == 3)
        await world.worker.stop()
    }

    @Test(arguments: ["deleteBook", "removeCover", "deleteAccount"])
    func whatIsNotWantedAnyMoreLeavesNothing(what: String) async throws {
        let (world, gate) = try await Self.waiting()
        let reader = try await world.app.makeReader()
        let id = try await Self.fox(world, reader)
        switch what {
        case "deleteBook":
            _ = try await reader.requireValue(
                "mutation($id: ID!) { deleteBook(id: $id) }", ["id": id], "deleteBook")
        case "removeCover":
            #expect(
                try await reader.requireValue(
                    "mutation($id: ID!) { removeCover(bookId: $id) { coverStatus } }", ["id": id],
                    "removeCover", "coverStatus") == "NONE")
        default:
            _ = try await reader.requireValue(
                "mutation($id: String!) { deleteAccount(confirm: $id) { id } }", ["id": reader.id],
                "deleteAccount")
        }
        gate.open()
        try await waitUntil("no search is under way") {
            try await world.app.database.count(
                "SELECT count(*) FROM jobs WHERE kind = 'cover.fetch'") == 0
        }
        await world.worker.stop()
        #expect(try await world.files(reader).isEmpty)
        #expect(try await world.app.database.count("SELECT count(*) FROM covers") == 0)
        if what == "removeCover" {
            #expect(try await world.book(reader, id)["coverStatus"] == "NONE")
        }
    }

    /// A wish that comes while an older one is served is served, too.
    @Test func aLaterWishIsServed() async throws {
        let (world, gate) = try await Self.waiting()
        let reader = try await world.app.makeReader()
        let id = try await Self.fox(world, reader)
        #expect(
            try await reader.requireValue(Self.search, ["book": id], "setCover", "coverStatus")
                == "FETCHING")
        gate.open()
        #expect(try await world.settled(reader, id)["coverStatus"] == "READY")
        #expect(world.requests(CoverWorld.foxPicture).count == 2)
        #expect(try await world.files(reader).count == 3)
        await world.worker.stop()
    }

    // MARK: - A minute

    /// Slow or dead sources: the reader is told in time, and a late cover still arrives.
    @Test func aLateCoverStillArrives() async throws {
        let world = try await CoverWorld.start()
        world.knowFox()
        world.setResponse(CoverWorld.foxPicture) { [.response(503)] }
        let reader = try await world.app.makeReader()
        let live = try await reader.subscribe("subscription { coverChanged { status } }")
        let id = try await Self.fox(world, reader)
        try await waitUntil("the attempt has failed") {
            try await world.app.database.count(
                "SELECT count(*) FROM jobs WHERE kind = 'cover.fetch' AND state = 'READY' AND attempts = 1"
            )
                == 1
        }
        #expect(try await world.book(reader, id)["coverStatus"] == "FETCHING")
        // Its minute is over.
        try await world.app.database.execute(
            """
            UPDATE books SET cover_wanted_at = cover_wanted_at - interval '51 seconds';
            UPDATE jobs SET run_at = now() WHERE kind = 'cover.end_waits'
            """)
        #expect(await live.next()["data", "coverChanged", "status"] == "FETCHING")
        #expect(await live.next()["data", "coverChanged", "status"] == "NOT_FOUND")
        #expect(try await world.book(reader, id)["coverStatus"] == "NOT_FOUND")

        world.setResponse(CoverWorld.foxPicture, image: TestImage.png(width: 400, height: 600))
        try await world.app.database.execute(
            "UPDATE jobs SET run_at = now() WHERE kind = 'cover.fetch'")
        #expect(await live.next()["data", "coverChanged", "status"] == "READY")
        #expect(try await world.settled(reader, id)["coverStatus"] == "READY")
        await world.worker.stop()
    }

    /// The minute of a search for another cover ends with the one that is there, and a better one may still come.
    @Test func aLateSearchKeepsTheCoverAndMayStillReplaceIt() async throws {
        let world = try await CoverWorld.start()
        world.knowFox()
        world.setResponse(CoverWorld.foxPicture) { [.response(503)] }
        let reader = try await world.app.makeReader()
        let id = try await reader.makeBook([
            "title": "Fox", "isbn": .string(CoverWorld.fox), "fetchCover": false,
        ])
        let mine = try await reader.setCover(Self.set, id, TestImage.png(seed: 5))
        let live = try await reader.subscribe("subscription { coverChanged { status coverUrl } }")
        _ = try await reader.requireValue(Self.search, ["book": id], "setCover")
        try await waitUntil("the attempt has failed") {
            try await world.app.database.count(
                "SELECT count(*) FROM jobs WHERE kind = 'cover.fetch' AND state = 'READY' AND attempts = 1"
            )
                == 1
        }
        try await world.app.database.execute(
            "UPDATE books SET cover_wanted_at = cover_wanted_at - interval '56 seconds'")
        #expect(try await world.book(reader, id)["coverStatus"] == "READY")
        try await world.app.database.execute(
            "UPDATE jobs SET run_at = now() WHERE kind = 'cover.end_waits'")
        #expect(await live.next()["data", "coverChanged", "status"] == "FETCHING")
        let kept = await live.next()["data", "coverChanged"]
        #expect(kept?["status"] == "READY")
        #expect(kept?["coverUrl"] == mine["setCover", "coverUrl"])
        world.setResponse(CoverWorld.foxPicture, image: TestImage.png(width: 400, height: 600))
        try await world.app.database.execute(
            "UPDATE jobs SET run_at = now() WHERE kind = 'cover.fetch'")
        #expect(try await world.settled(reader, id)["cover", "source"] == "OPEN_LIBRARY")
        await world.worker.stop()
    }

    /// Also where no server is left that would say so.
    @Test func nobodyWaitsLongerThanAMinute() async throws {
        let world = try await CoverWorld.start()
        await world.worker.stop()
        let reader = try await world.app.makeReader()
        let id = try await reader.makeBook("Dune")
        #expect(try await world.book(reader, id)["coverStatus"] == "FETCHING")
        try await world.app.database.execute(
            "UPDATE books SET cover_wanted_at = now() - interval '56 seconds'")
        #expect(try await world.book(reader, id)["coverStatus"] == "NOT_FOUND")
    }

    /// Sources that never answer leave no dead letter behind.
    @Test func theLastAttemptEndsTheSearch() async throws {
        let world = try await CoverWorld.start()
        world.knowFox()
        world.setResponse(CoverWorld.foxPicture) { [.response(500)] }
        let reader = try await world.app.makeReader()
        let id = try await Self.fox(world, reader)
        try await waitUntil("the attempt has failed") {
            try await world.app.database.count(
                "SELECT count(*) FROM jobs WHERE kind = 'cover.fetch' AND state = 'READY' AND attempts = 1"
            )
                == 1
        }
        try await world.app.database.execute(
            "UPDATE jobs SET attempts = attempts_max - 1, run_at = now() WHERE kind = 'cover.fetch'"
        )
        #expect(try await world.settled(reader, id)["coverStatus"] == "NOT_FOUND")
        await world.worker.stop()
        // That was no answer, so the next wish is served at once.
        #expect(
            try await world.app.database.count(
                "SELECT count(*) FROM books WHERE cover_sought_at IS NOT NULL") == 0)
        #expect(
            try await reader.execute("mutation { fetchMissingCovers }")["fetchMissingCovers"] == 1)
    }

    /// A worker that dies is not waited for: its jobs are back within twenty seconds.
    @Test func theJobsOfADeadWorkerAreBackSoon() {
        let limits = JobWorkerState.Limits()
        #expect(limits.lease + limits.poll < .seconds(20))
    }

    // MARK: - Who wishes

    @Test func manyBooksAreWishedForAtOnce() async throws {
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
                "FETCHING", "NONE", nil, "FETCHING",
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

    @Test func importedBooksAreWishedFor() async throws {
        let app = try await TestApp.start()
        let reader = try await app.makeReader()
        _ = try await reader.makeBook("Here already")
        let file = Array(
            "Title,Author,ISBN13,My Rating,Bookshelves,Exclusive Shelf\nA,B,,0,,read\nC,D,,0,,read\n"
                .utf8)
        let response = try await app.execute(
            "mutation($file: Upload!) { importLibrary(file: $file, format: GOODREADS) { id } }",
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

    /// Made again after a lost answer, it is looked for once.
    @Test func aBookSentAgainIsLookedForOnce() async throws {
        let world = try await CoverWorld.start()
        let reader = try await world.app.makeReader()
        let input: Value = ["id": "0198c0de-0000-7000-8000-000000000001", "title": "Dune"]
        let id = try await reader.makeBook(input)
        _ = try await world.settled(reader, id)
        _ = try await reader.makeBook(input)
        #expect(try await world.book(reader, id)["coverStatus"] == "NOT_FOUND")
        await world.worker.stop()
    }

    @Test func missingCoversAreFetchedOnce() async throws {
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
        let fetch = "mutation { fetchMissingCovers }"
        #expect(try await reader.execute(fetch)["fetchMissingCovers"] == 3)
        #expect(try await reader.execute(fetch)["fetchMissingCovers"] == 0)
        #expect(
            try await world.app.database.count(
                "SELECT count(*) FROM jobs WHERE kind = 'cover.fetch' AND priority = 10") == 3)
        // One that came to nothing yesterday is looked for again.
        try await world.app.database.execute(
            """
            UPDATE books SET cover_status = 'NOT_FOUND', cover_wanted_at = NULL, \
            cover_sought_at = now() - interval '25 hours' WHERE title = 'Book 3'
            """)
        #expect(try await reader.execute(fetch)["fetchMissingCovers"] == 1)
        #expect(
            try await world.app.database.count(
                "SELECT count(*) FROM books WHERE cover_status = 'FETCHING' AND user_id = '\(other.id.string ?? "")'"
            ) == 0)
        #expect(try await world.app.execute(fetch).code == "UNAUTHENTICATED")
    }

    /// What nobody had a moment ago is not looked for again at once, unless the book is another one now, or its reader asks.
    @Test func whatWasNotFoundJustNowIsLeftAlone() async throws {
        let world = try await CoverWorld.start()
        let reader = try await world.app.makeReader()
        let id = try await reader.makeBook(["title": "Nothing", "author": "Nobody"])
        #expect(try await world.settled(reader, id)["coverStatus"] == "NOT_FOUND")
        let fetch = "mutation { fetchMissingCovers }"
        #expect(try await reader.execute(fetch)["fetchMissingCovers"] == 0)
        let renamed = try await reader.execute(
            "mutation($b: ID!) { updateBook(id: $b, input: {title: \"Something\"}) { id } }",
            ["b": id])
        #expect(renamed.errors.isEmpty, "\(renamed.json)")
        #expect(try await reader.execute(fetch)["fetchMissingCovers"] == 1)
        #expect(try await world.settled(reader, id)["coverStatus"] == "NOT_FOUND")
        #expect(try await reader.execute(fetch)["fetchMissingCovers"] == 0)
        let one = try await reader.execute(Self.search, ["book": id])
        #expect(one["setCover", "coverStatus"] == "FETCHING")
        await world.worker.stop()
    }

    /// A reader has been told that nothing was found yet, and the search goes on.
    @Test func aSearchThatGoesOnIsNotBegunAgain() async throws {
        let world = try await CoverWorld.start()
        let reader = try await world.app.makeReader()
        await world.worker.stop()
        _ = try await reader.makeBook(["title": "Slow"])
        try await world.app.database.execute(
            "UPDATE books SET cover_status = 'NOT_FOUND', cover_wanted_at = now() - interval '5 minutes'"
        )
        let fetch = "mutation { fetchMissingCovers }"
        #expect(try await reader.execute(fetch)["fetchMissingCovers"] == 0)
        try await world.app.database.execute(
            "UPDATE books SET cover_wanted_at = now() - interval '2 hours'")
        #expect(try await reader.execute(fetch)["fetchMissingCovers"] == 1)
    }

    @Test func noMoreThanFiveHundredAreFetchedAtOnce() async throws {
        let world = try await CoverWorld.start()
        await world.worker.stop()
        let reader = try await world.app.makeReader()
        try await world.app.database.execute(
            """
            INSERT INTO books (user_id, id, title, added_at)
            SELECT '\(reader.id.string ?? "")', gen_random_uuid(), 'Book ' || n, now() - n * interval '1 hour'
            FROM generate_series(1, 510) n
            """)
        let fetch = "mutation { fetchMissingCovers }"
        let first = try await reader.execute(fetch)
        #expect(first["fetchMissingCovers"] == 500)
        #expect(first.roundTrips == 2)
        // The newest first.
        #expect(
            try await world.app.database.count(
                "SELECT count(*) FROM books WHERE cover_status = 'FETCHING' AND title = 'Book 500'")
                == 1)
        #expect(try await reader.execute(fetch)["fetchMissingCovers"] == 10)
    }

    // MARK: - By search

    @Test func aSearchKeepsWhatIsThereUntilItFinds() async throws {
        let (world, gate) = try await Self.waiting()
        let reader = try await world.app.makeReader()
        let id = try await reader.makeBook([
            "title": "Fox", "isbn": .string(CoverWorld.fox), "fetchCover": false,
        ])
        let mine = try await reader.setCover(Self.set, id, TestImage.png(seed: 3))
        let asked = try await reader.execute(Self.search, ["book": id])
        #expect(asked["setCover", "coverStatus"] == "FETCHING")
        #expect(asked["setCover", "coverUrl"] == mine["setCover", "coverUrl"])
        gate.open()
        let book = try await world.settled(reader, id)
        #expect(book["cover", "source"] == "OPEN_LIBRARY")
        #expect(book["coverUrl"] != mine["setCover", "coverUrl"])
        // What it replaced is gone.
        try await waitUntil("the first picture is gone") {
            try await world.files(reader).count == 3
        }
        await world.worker.stop()
    }

    /// The same picture again, a smaller one, or none: the book is ready as before, and its readers hear of it.
    @Test(arguments: ["same", "smaller", "none"])
    func aSearchThatBringsNothingBetterLeavesTheCover(what: String) async throws {
        let world = try await CoverWorld.start()
        world.knowFox()
        world.setResponse(CoverWorld.foxPicture, image: TestImage.png(width: 400, height: 600))
        let reader = try await world.app.makeReader()
        let id = try await reader.makeBook(["title": "Fox", "isbn": .string(CoverWorld.fox)])
        let before = try await world.settled(reader, id)
        switch what {
        case "smaller":
            world.setResponse(CoverWorld.foxPicture, image: TestImage.png(width: 200, height: 300))
        case "none": world.setResponse(CoverWorld.foxPicture) { [.response(404)] }
        default: break
        }
        let live = try await reader.subscribe(
            "subscription { coverChanged { status source coverUrl } }")
        _ = try await reader.requireValue(Self.search, ["book": id], "setCover")
        let after = try await world.settled(reader, id)
        #expect(after == before)
        #expect(await live.next()["data", "coverChanged", "status"] == "FETCHING")
        #expect(
            await live.next()["data", "coverChanged"] == [
                "status": "READY", "source": "OPEN_LIBRARY",
                "coverUrl": before["coverUrl"] ?? .null,
            ])
        #expect(try await world.files(reader).count == 3)
        await world.worker.stop()
    }

    @Test func aSearchIsRefusedWhereItMakesNoSense() async throws {
        let world = try await CoverWorld.start()
        let (reader, other) = (try await world.app.makeReader(), try await world.app.makeReader())
        let id = try await reader.makeBook(["title": "Fox", "fetchCover": false])
        let no = try await reader.execute(
            "mutation($b: ID!) { setCover(bookId: $b, source: {search: false}) { id } }", ["b": id])
        #expect(no.code == "BAD_USER_INPUT" && no.field == "source.search")
        #expect(try await other.execute(Self.search, ["book": id]).code == "NOT_FOUND")
        #expect(try await world.book(reader, id)["coverStatus"] == "NONE")
        await world.worker.stop()
    }

    @Test func withoutSourcesNothingIsPromised() async throws {
        let app = try await TestApp.start()
        let reader = try await app.makeReader()
        let book = try await reader.requireValue(
            #"mutation { createBook(input: {title: "Dune"}) { id coverStatus } }"#, .null,
            "createBook")
        #expect(book["coverStatus"] == "NONE")
        #expect(
            try await reader.execute("mutation { fetchMissingCovers }")["fetchMissingCovers"] == 0)
        let searched = try await reader.execute(Self.search, ["book": book["id"] ?? .null])
        #expect(searched["setCover", "coverStatus"] == "NOT_FOUND")
        #expect(
            try await app.database.count("SELECT count(*) FROM jobs WHERE kind = 'cover.fetch'")
                == 0)
    }

    @Test func whereThereIsNoRoomItSaysSo() async throws {
        let world = try await CoverWorld.start()
        world.knowFox()
        world.setResponse(CoverWorld.foxPicture, image: TestImage.png(width: 400, height: 600))
        try await world.app.database.execute("UPDATE tenants SET user_storage_bytes_max = 10")
        let reader = try await world.app.makeReader()
        let id = try await reader.makeBook(["title": "Fox", "isbn": .string(CoverWorld.fox)])
        #expect(try await world.settled(reader, id)["coverStatus"] == "FAILED")
        #expect(try await world.files(reader).isEmpty)
        await world.worker.stop()
    }
}
