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

/// Requests for covers: what requests them, changes during a search, and notifications.
@Suite struct CoverRequestTests {
    static let set = """
        mutation($book: ID!, $image: Upload!) {
          setCover(id: $book, input: {image: $image}) { coverStatus image { url source } }
        }
        """
    static let search = """
        mutation($book: ID!) {
          setCover(id: $book, input: {search: true}) { coverStatus image { url source } }
        }
        """

    /// At most ten searches of a reader have the priority of work that a user waits for.
    @Test func furtherSearchesOfAReaderAreBackgroundWork() async throws {
        let world = try await CoverWorld.start()
        await world.worker.stop()
        let reader = try await world.app.makeReader()
        let inputs = (0..<8).map { Value.object([.init("title", .string("Book \($0)"))]) }
        for priorities in [(8, 0), (10, 6)] {
            _ = try await reader.requireValue(
                "mutation($inputs: [CreateBookInput!]!) { createBooks(inputs: $inputs) { book { id } } }",
                ["inputs": .list(inputs)], "createBooks")
            for (priority, count) in [(0, priorities.0), (10, priorities.1)] {
                #expect(
                    try await world.app.database.count(
                        "SELECT count(*) FROM jobs WHERE kind = 'cover.fetch' AND priority = \(priority)"
                    )
                        == count)
            }
        }
        let other = try await world.app.makeReader()
        _ = try await other.makeBook(["title": "Of another reader"])
        #expect(
            try await world.app.database.count(
                "SELECT count(*) FROM jobs WHERE kind = 'cover.fetch' AND priority = 0") == 11)
    }

    /// The search for a book that a reader has just added ends while many background searches run and wait.
    @Test func searchOfANewBookStartsBesideBackgroundSearches() async throws {
        let world = try await CoverWorld.start()
        let gate = Gate()
        world.setResponse("/search.json?title=Slow") {
            gate.wait()
            return [.response(404, "")]
        }
        let reader = try await world.app.makeReader()
        try await world.app.database.execute(
            """
            INSERT INTO books (user_id, id, title, authors)
            SELECT '\(reader.id.string ?? "")', gen_random_uuid(), 'Slow ' || n, '{Ada}'
            FROM generate_series(1, 12) n
            """)
        _ = try await reader.requireValue(
            "mutation { fetchMissingCovers { queued } }", .null, "fetchMissingCovers")
        try await waitUntil("the background searches run") {
            world.requests("/search.json?title=Slow").count == 4
        }
        let other = try await world.app.makeReader()
        let book = try await other.makeBook(["title": "Quick", "authors": [["name": "Bob"]]])
        #expect(try await world.bookAfterSearch(other, book)["coverStatus"] == "NOT_FOUND")
        #expect(world.requests("/search.json?title=Slow").count == 4)
        #expect(
            try await world.app.database.count(
                "SELECT count(*) FROM jobs WHERE kind = 'cover.fetch' AND state = 'RUNNING'") == 4)
        gate.open()
        await world.worker.stop()
    }

    /// Starts a world whose image of the book "Fox" is not sent before the gate opens.
    private static func startWithGate() async throws -> (CoverWorld, Gate) {
        let world = try await CoverWorld.start()
        let gate = Gate()
        world.addFoxRecord()
        let image = TestImage.png(width: 400, height: 600)
        world.setResponse(CoverWorld.foxImageTarget) {
            gate.wait()
            return CoverWorld.image(image)
        }
        return (world, gate)
    }

    /// Delays a server's response, for at least 4 seconds if it is not opened.
    private final class Gate: Sendable {
        private let isOpen = Atomic(false)
        func open() { isOpen.store(true, ordering: .relaxed) }
        func wait() {
            for _ in 0..<2000 where !isOpen.load(ordering: .relaxed) {
                usleep(2000)
            }
        }
    }

    /// Creates the book "Fox" and waits until its image is requested.
    private static func makeFox(_ world: CoverWorld, _ reader: TestReader) async throws -> Value {
        let id = try await reader.makeBook(["title": "Fox", "isbn": .string(CoverWorld.fox)])
        try await waitUntil("the image is requested") {
            !world.requests(CoverWorld.foxImageTarget).isEmpty
        }
        return id
    }

    private static func waitUntilFirstAttemptFailed(_ world: CoverWorld) async throws {
        try await waitUntil("the first attempt has failed") {
            try await world.app.database.count(
                """
                SELECT count(*) FROM jobs
                WHERE kind = 'cover.fetch' AND state = 'READY' AND attempts = 1
                """) == 1
        }
    }

    // MARK: - Changes during a search

    @Test func uploadDuringASearchStays() async throws {
        let (world, gate) = try await Self.startWithGate()
        let reader = try await world.app.makeReader()
        let id = try await Self.makeFox(world, reader)
        let upload = try await reader.setCover(Self.set, id, TestImage.png(seed: 7))
        #expect(upload["setCover", "coverStatus"] == "READY")
        gate.open()
        let book = try await world.bookAfterSearch(reader, id)
        #expect(book["image", "source"] == "MANUAL_UPLOAD")
        #expect(book["image", "url"] == upload["setCover", "image", "url"])
        #expect(try await world.files(reader).count == 3)
        await world.worker.stop()
    }

    @Test(arguments: ["deleteBook", "removeCover", "deleteAccount"])
    func resultOfACancelledRequestIsDiscarded(what: String) async throws {
        let (world, gate) = try await Self.startWithGate()
        let reader = try await world.app.makeReader()
        let id = try await Self.makeFox(world, reader)
        switch what {
        case "deleteBook":
            _ = try await reader.requireValue(
                "mutation($id: ID!) { deleteBook(id: $id) { id } }", ["id": id], "deleteBook")
        case "removeCover":
            #expect(
                try await reader.requireValue(
                    "mutation($id: ID!) { removeCover(id: $id) { coverStatus } }", ["id": id],
                    "removeCover", "coverStatus") == "NO_COVER")
        default:
            _ = try await reader.requireValue(
                "mutation($id: String!) { deleteAccount(confirm: $id) { id } }", ["id": reader.id],
                "deleteAccount")
        }
        gate.open()
        try await waitUntil("the search has ended") {
            try await world.app.database.count(
                "SELECT count(*) FROM jobs WHERE kind = 'cover.fetch'") == 0
        }
        await world.worker.stop()
        #expect(try await world.files(reader).isEmpty)
        #expect(try await world.app.database.count("SELECT count(*) FROM covers") == 0)
        if what == "removeCover" {
            #expect(try await world.book(reader, id)["coverStatus"] == "NO_COVER")
        }
    }

    /// A request during the search for an earlier one starts another search.
    @Test func secondRequestDuringASearchIsFulfilled() async throws {
        let (world, gate) = try await Self.startWithGate()
        let reader = try await world.app.makeReader()
        let id = try await Self.makeFox(world, reader)
        #expect(
            try await reader.requireValue(Self.search, ["book": id], "setCover", "coverStatus")
                == "FETCHING")
        gate.open()
        #expect(try await world.bookAfterSearch(reader, id)["coverStatus"] == "READY")
        #expect(world.requests(CoverWorld.foxImageTarget).count == 2)
        #expect(try await world.files(reader).count == 3)
        await world.worker.stop()
    }

    // MARK: - The time limit of a minute

    /// If sources are slow or down, the reader is notified within a minute. A late cover is still stored.
    @Test func lateCoverIsStored() async throws {
        let world = try await CoverWorld.start()
        world.addFoxRecord()
        world.setResponse(CoverWorld.foxImageTarget) { [.response(503)] }
        let reader = try await world.app.makeReader()
        let live = try await reader.subscribe("subscription { coverChanged { status } }")
        let id = try await Self.makeFox(world, reader)
        try await Self.waitUntilFirstAttemptFailed(world)
        #expect(try await world.book(reader, id)["coverStatus"] == "FETCHING")
        // Nearly a minute has passed.
        try await world.app.database.execute(
            """
            UPDATE books SET cover_requested_at = cover_requested_at - interval '51 seconds';
            UPDATE jobs SET run_at = now() WHERE kind = 'cover.end_waits'
            """)
        #expect(await live.next()["data", "coverChanged", "status"] == "FETCHING")
        #expect(await live.next()["data", "coverChanged", "status"] == "NOT_FOUND")
        #expect(try await world.book(reader, id)["coverStatus"] == "NOT_FOUND")

        world.setResponse(CoverWorld.foxImageTarget, image: TestImage.png(width: 400, height: 600))
        try await world.app.database.execute(
            "UPDATE jobs SET run_at = now() WHERE kind = 'cover.fetch'")
        #expect(await live.next()["data", "coverChanged", "status"] == "READY")
        #expect(try await world.bookAfterSearch(reader, id)["coverStatus"] == "READY")
        await world.worker.stop()
    }

    /// After a minute without a result, the book keeps its cover. A late result still replaces it.
    @Test func lateSearchKeepsTheCoverUntilItFindsOne() async throws {
        let world = try await CoverWorld.start()
        world.addFoxRecord()
        world.setResponse(CoverWorld.foxImageTarget) { [.response(503)] }
        let reader = try await world.app.makeReader()
        let id = try await reader.makeBook([
            "title": "Fox", "isbn": .string(CoverWorld.fox), "fetchCover": false,
        ])
        let upload = try await reader.setCover(Self.set, id, TestImage.png(seed: 5))
        let live = try await reader.subscribe(
            "subscription { coverChanged { status image { url } } }")
        _ = try await reader.requireValue(Self.search, ["book": id], "setCover")
        try await Self.waitUntilFirstAttemptFailed(world)
        try await world.app.database.execute(
            "UPDATE books SET cover_requested_at = cover_requested_at - interval '56 seconds'")
        #expect(try await world.book(reader, id)["coverStatus"] == "READY")
        try await world.app.database.execute(
            "UPDATE jobs SET run_at = now() WHERE kind = 'cover.end_waits'")
        #expect(await live.next()["data", "coverChanged", "status"] == "FETCHING")
        let kept = await live.next()["data", "coverChanged"]
        #expect(kept?["status"] == "READY")
        #expect(kept?["image", "url"] == upload["setCover", "image", "url"])
        world.setResponse(CoverWorld.foxImageTarget, image: TestImage.png(width: 400, height: 600))
        try await world.app.database.execute(
            "UPDATE jobs SET run_at = now() WHERE kind = 'cover.fetch'")
        #expect(try await world.bookAfterSearch(reader, id)["image", "source"] == "OPEN_LIBRARY")
        await world.worker.stop()
    }

    /// `coverStatus` is not FETCHING for longer than a minute, even if no server is running.
    @Test func statusEndsAfterAMinuteWithoutAServer() async throws {
        let world = try await CoverWorld.start()
        await world.worker.stop()
        let reader = try await world.app.makeReader()
        let id = try await reader.makeBook("Dune")
        #expect(try await world.book(reader, id)["coverStatus"] == "FETCHING")
        try await world.app.database.execute(
            "UPDATE books SET cover_requested_at = now() - interval '56 seconds'")
        #expect(try await world.book(reader, id)["coverStatus"] == "NOT_FOUND")
    }

    /// If the sources never answer, the search ends and its job does not become a dead job.
    @Test func lastAttemptEndsTheSearch() async throws {
        let world = try await CoverWorld.start()
        world.addFoxRecord()
        world.setResponse(CoverWorld.foxImageTarget) { [.response(500)] }
        let reader = try await world.app.makeReader()
        let id = try await Self.makeFox(world, reader)
        try await Self.waitUntilFirstAttemptFailed(world)
        try await world.app.database.execute(
            "UPDATE jobs SET attempts = attempts_max - 1, run_at = now() WHERE kind = 'cover.fetch'"
        )
        #expect(try await world.bookAfterSearch(reader, id)["coverStatus"] == "NOT_FOUND")
        await world.worker.stop()
        // The sources have not answered, so `fetchMissingCovers` does not wait a day.
        #expect(
            try await world.app.database.count(
                "SELECT count(*) FROM books WHERE cover_not_found_at IS NOT NULL") == 0)
        #expect(
            try await reader.execute("mutation { fetchMissingCovers { queued } }")[
                "fetchMissingCovers", "queued"] == 1)
    }

    /// Another worker takes over the jobs of a dead worker within 20 seconds.
    @Test func jobsOfADeadWorkerAreTakenOverSoon() {
        let limits = JobWorkerState.Limits()
        #expect(limits.lease + limits.poll < .seconds(20))
    }

    // MARK: - setCover(input: {search: true})

    @Test func searchKeepsTheCoverUntilItFindsAnother() async throws {
        let (world, gate) = try await Self.startWithGate()
        let reader = try await world.app.makeReader()
        let id = try await reader.makeBook([
            "title": "Fox", "isbn": .string(CoverWorld.fox), "fetchCover": false,
        ])
        let upload = try await reader.setCover(Self.set, id, TestImage.png(seed: 3))
        let response = try await reader.execute(Self.search, ["book": id])
        #expect(response["setCover", "coverStatus"] == "FETCHING")
        #expect(response["setCover", "image", "url"] == upload["setCover", "image", "url"])
        gate.open()
        let book = try await world.bookAfterSearch(reader, id)
        #expect(book["image", "source"] == "OPEN_LIBRARY")
        #expect(book["image", "url"] != upload["setCover", "image", "url"])
        // The files of the replaced cover are removed.
        try await waitUntil("the first image is removed") {
            try await world.files(reader).count == 3
        }
        await world.worker.stop()
    }

    /// If the search finds the same image, a smaller one, or none, the cover stays and subscribers are notified.
    @Test(arguments: ["same", "smaller", "none"])
    func searchWithoutABetterResultKeepsTheCover(what: String) async throws {
        let world = try await CoverWorld.start()
        world.addFoxRecord()
        world.setResponse(CoverWorld.foxImageTarget, image: TestImage.png(width: 400, height: 600))
        let reader = try await world.app.makeReader()
        let id = try await reader.makeBook(["title": "Fox", "isbn": .string(CoverWorld.fox)])
        let before = try await world.bookAfterSearch(reader, id)
        switch what {
        case "smaller":
            world.setResponse(
                CoverWorld.foxImageTarget, image: TestImage.png(width: 200, height: 300))
        case "none": world.setResponse(CoverWorld.foxImageTarget) { [.response(404)] }
        default: break
        }
        let live = try await reader.subscribe(
            "subscription { coverChanged { status source image { url } } }")
        _ = try await reader.requireValue(Self.search, ["book": id], "setCover")
        let after = try await world.bookAfterSearch(reader, id)
        #expect(after == before)
        #expect(await live.next()["data", "coverChanged", "status"] == "FETCHING")
        #expect(
            await live.next()["data", "coverChanged"] == [
                "status": "READY", "source": "OPEN_LIBRARY",
                "image": ["url": before["image", "url"] ?? .null],
            ])
        #expect(try await world.files(reader).count == 3)
        await world.worker.stop()
    }

    @Test func invalidSearchIsRefused() async throws {
        let world = try await CoverWorld.start()
        let (reader, other) = (try await world.app.makeReader(), try await world.app.makeReader())
        let id = try await reader.makeBook(["title": "Fox", "fetchCover": false])
        let refused = try await reader.execute(
            "mutation($b: ID!) { setCover(id: $b, input: {search: false}) { id } }", ["b": id])
        #expect(refused.code == "BAD_USER_INPUT" && refused.field == "search")
        #expect(try await other.execute(Self.search, ["book": id]).code == "NOT_FOUND")
        #expect(try await world.book(reader, id)["coverStatus"] == "NO_COVER")
        await world.worker.stop()
    }

    @Test func withoutSourcesTheStatusIsFinalAtOnce() async throws {
        let app = try await TestApp.start()
        let reader = try await app.makeReader()
        let book = try await reader.requireValue(
            #"mutation { createBook(input: {title: "Dune"}) { id coverStatus } }"#, .null,
            "createBook")
        #expect(book["coverStatus"] == "NO_COVER")
        #expect(
            try await reader.execute("mutation { fetchMissingCovers { queued } }")[
                "fetchMissingCovers", "queued"] == 0)
        let searched = try await reader.execute(Self.search, ["book": book["id"] ?? .null])
        #expect(searched["setCover", "coverStatus"] == "NOT_FOUND")
        #expect(
            try await app.database.count("SELECT count(*) FROM jobs WHERE kind = 'cover.fetch'")
                == 0)
    }

    @Test func searchFailsIfTheStorageLimitIsReached() async throws {
        let world = try await CoverWorld.start()
        world.addFoxRecord()
        world.setResponse(CoverWorld.foxImageTarget, image: TestImage.png(width: 400, height: 600))
        try await world.app.database.execute("UPDATE tenants SET user_storage_bytes_max = 10")
        let reader = try await world.app.makeReader()
        let id = try await reader.makeBook(["title": "Fox", "isbn": .string(CoverWorld.fox)])
        #expect(try await world.bookAfterSearch(reader, id)["coverStatus"] == "FAILED")
        #expect(try await world.files(reader).isEmpty)
        await world.worker.stop()
    }
}
