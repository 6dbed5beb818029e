import FoundationEssentials
import Postgres
import TestBasics
import TestSupport
import Testing

@testable import Bookplate
@testable import Operations

/// Loading existing readers with `bookplate-admin readers import`.
@Suite struct ReadersImportTests {
    private static let lines = """
        {"sub": "001.ada", "displayName": "Ada", "email": "ada@example.com", "createdAt": "2020-01-31T12:00:00Z", \
        "shelves": ["Favorites", "Empty"], "preferredGenres": ["Fantasy", "No such genre"], "languages": ["nb-NO", "?"], "timeZone": "Europe/Oslo", "books": [\
        {"title": "Dune", "authors": [{"name": "Frank Herbert"}], "isbn": "9780441013593", "status": "READ", "rating": 4.5, \
        "review": "Spice.", "shelves": ["favorites"], "copies": [{"place": "Hall"}, {"loan": {"borrower": "Bo", "lentOn": "2020"}}], "reads": [\
        {"startedOn": "2019-05", "finishedOn": "2019-06-01", "outcome": "FINISHED"}, {"finishedOn": "2021", "outcome": "FINISHED"}]}, \
        {"title": "Emma", "author": "Jane Austen", "status": "READING", "rating": 9}]}

        {"sub": "bo", "issuer": "https://id.example.com", "books": [{"title": "Emma", "status": "READ"}]}
        {"displayName": "nobody"}
        not JSON
        {"sub": "001.ada", "books": [{"title": "Dune", "isbn": "9780441013593", "status": "READ", "rating": 1}, {}]}
        """

    private func run(
        _ app: TestApp, _ text: String, isDryRun: Bool = false, connectionCount: Int = 1
    ) async throws -> (ReadersImport.Summary, [String]) {
        let path = "/tmp/readers-\(UUID.version7()).jsonl"
        try Data(text.utf8).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let tenant = try await app.database.withConnection { connection in
            try connection.query("SELECT slug FROM tenants LIMIT 1").text(0, 0) ?? ""
        }
        let url = try app.database.url(as: TestCluster.owner)
        return try await blocking {
            var problems: [String] = []
            let connections = try (0..<connectionCount).map { _ in try AdminConnection(url) }
            let summary = try ReadersImport(connections).run(
                try ReadersFile(path: path), tenant: tenant, isDryRun: isDryRun
            ) { problems.append("\($0): \($1)") }
            return (summary, problems)
        }
    }

    @Test func readersAreLoadedOnce() async throws {
        let app = try await TestApp.start()
        let before = try await app.database.count("SELECT count(*) FROM users")
        let (dry, _) = try await run(app, Self.lines, isDryRun: true)
        #expect(try await app.database.count("SELECT count(*) FROM users") == before)
        let (summary, problems) = try await run(app, Self.lines)
        #expect(dry == summary)
        #expect(
            summary
                == .init(
                    readers: 3, readersCreated: 2, booksCreated: 3, reviewsCreated: 1,
                    readsCreated: 4, shelvesCreated: 2, failed: 2, leftOut: 2))
        #expect(
            problems == [
                "1: books[1].rating: rating is not between 0.25 and 5. It was left out.",
                "4: `sub` is missing or too long.",
                "5: JSON has an unexpected character at byte 1.",
                "6: books[1]: The title is missing or too long. The book was left out.",
            ])
        #expect(
            try await app.database.count(
                """
                SELECT count(*) FROM users u JOIN identities i ON i.user_id = u.id
                WHERE subject = '001.ada' AND i.created_at = u.created_at AND display_name = 'Ada' AND email = 'ada@example.com'
                  AND preferred_genres = ARRAY['Fantasy'] AND languages = ARRAY['no'] AND time_zone = 'Europe/Oslo' AND u.created_at = '2020-01-31T12:00:00Z'
                """) == 1)
        #expect(
            try await app.database.count(
                "SELECT count(*) FROM identities WHERE subject = E'https://id.example.com\\x1Fbo'")
                == 1)
        #expect(
            try await app.database.count(
                "SELECT count(*) FROM reviews WHERE quarter_stars = 18 AND text = 'Spice.'") == 1)
        #expect(
            try await app.database.count(
                """
                SELECT count(*) FROM books
                WHERE title = 'Dune' AND started_at IS NULL AND finished_at = '2021-01-01T00:00:00Z'
                """) == 1)
        #expect(
            try await app.database.count(
                "SELECT count(*) FROM reads WHERE started_on = '2019-05' AND finished_on = '2019-06-01'"
            ) == 1)
        #expect(
            try await app.database.count(
                "SELECT count(*) FROM book_copies WHERE place = 'Hall' OR borrower = 'Bo'") == 2)
        // Each created object is logged once, in the order of the numbers.
        #expect(
            try await app.database.count(
                "SELECT count(*) FROM changes WHERE typename IN ('Book', 'Read', 'Review', 'Shelf')"
            ) == 10)
        #expect(
            try await app.database.count("SELECT count(*) FROM books_to_link") == 3)

        let (again, _) = try await run(app, Self.lines)
        #expect(
            again == .init(readers: 3, failed: 2, leftOut: 2), "nothing is created a second time")
        #expect(
            try await app.database.count(
                "SELECT count(*) FROM changes WHERE typename IN ('Book', 'Read', 'Review', 'Shelf')"
            ) == 10)
    }

    /// A batch has 2,000 books, so the second line of the reader comes while the first one may be stored.
    @Test func batchesAreStoredOnSeveralConnections() async throws {
        let app = try await TestApp.start(catalog: [])
        func line(_ subject: String, _ numbers: ClosedRange<Int>) -> String {
            let books = numbers.map { #"{"title": "Book \#($0)", "status": "READ", "rating": 3}"# }
            return #"{"sub": "\#(subject)", "books": [\#(books.joined(separator: ","))]}"#
        }
        let text = [
            line("ada", 1...2_000), line("bo", 1...1_000), line("ada", 1_900...2_500),
            line("cy", 1...2_000), line("bo", 1...5),
        ].joined(separator: "\n")
        let (summary, problems) = try await run(app, text, connectionCount: 3)
        #expect(problems == [])
        #expect(
            summary
                == .init(
                    readers: 5, readersCreated: 3, booksCreated: 5_500, reviewsCreated: 5_500,
                    readsCreated: 5_500))
    }

    /// The hourly jobs and the links to the catalog, which are signals, request decks only for readers with a session.
    @Test func decksOfLoadedReadersAreBuiltWhenTheyReturn() async throws {
        let app = try await TestApp.start(catalog: TestCatalog.lines(60))
        let lines = (1...300).map { number in
            let books = [number % 20 * 2, number % 20 * 2 + 1].map { card in
                card.isMultiple(of: 2)
                    ? #"{"title": "Card", "isbn": "\#(TestCatalog.isbn(1 + card % 60))", "status": "READ", "rating": 5}"#
                    : #"{"title": "Card \#(1 + card % 60)", "author": "Author \#((1 + card % 60) % 7)", "status": "READ", "rating": 4}"#
            }
            return #"{"sub": "reader-\#(number)", "books": [\#(books.joined(separator: ","))]}"#
        }
        let (summary, problems) = try await run(app, lines.joined(separator: "\n"))
        #expect(problems == [] && summary.readersCreated == 300)
        // One job links all books.
        let loaded = "FROM jobs WHERE kind NOT IN ('feed.refresh', 'feed.similar')"
        #expect(try await app.database.count("SELECT count(*) \(loaded)") == 1)
        try await app.database.execute("UPDATE jobs SET run_at = now()")
        let linking = try await TestWorker.start(app.database, [LinkBooks()])
        try await waitUntil("the books are linked") {
            try await app.database.count("SELECT count(*) FROM jobs WHERE kind = 'library.link'")
                == 0
        }
        await linking.stop()
        #expect(
            try await app.database.count("SELECT count(*) FROM books WHERE edition_id IS NOT NULL")
                == 600)
        // One after the other: both collect the signals, and the second one must find them collected.
        try await app.refreshFeed()
        let learning = try await TestWorker.start(app.database, [LearnSimilar()])
        try await waitUntil("the signals of the readers are learned from") {
            let similar = try await app.database.count("SELECT count(*) FROM edition_similar")
            let works = try await app.database.count("SELECT count(*) FROM works_to_learn()")
            return similar > 0 && works == 0
        }
        await learning.stop()
        #expect(try await app.waitingDeckCount() == 0)
        #expect(try await app.database.count("SELECT count(*) FROM feed_decks") == 0)
        // A reader who returns gets a deck of their own.
        let reader = try TestReader(app, "reader-7", try await app.signIn(subject: "reader-7"))
        #expect(try await app.waitingDeckCount() == 1)
        #expect(try await reader.feedCards(10).count == 10)
        #expect(
            try await app.database.count(
                "SELECT count(*) FROM feed_decks WHERE user_id = '\(reader.id.string ?? "")'") == 1)
        #expect(try await app.database.count("SELECT count(*) FROM feed_decks") == 1)
    }

    @Test func deletedBooksStayDeleted() async throws {
        let app = try await TestApp.start(catalog: [])
        _ = try await run(app, Self.lines)
        _ = try await app.database.withConnection { connection in
            try connection.query(
                "SELECT delete_books(b.user_id, ARRAY[b.id]) FROM books b WHERE b.title = 'Dune'")
        }
        let (summary, _) = try await run(app, Self.lines)
        #expect(summary.booksCreated == 0 && summary.reviewsCreated == 0)
        #expect(
            try await app.database.count("SELECT count(*) FROM books WHERE title = 'Dune'") == 0)
    }

    /// With random damage, each line is a reader or a problem.
    @Test(arguments: Array(UInt64(1)...20))
    func damagedLinesAreReported(seed: UInt64) {
        var random = SeededGenerator(seed)
        for line in Self.lines.split(separator: "\n") {
            var bytes = Array(line.utf8)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] =
                    "{}[]\":,0a\\".utf8.randomElement(using: &random) ?? 0
            }
            do throws(ImportProblem) {
                let reader = try ReaderRecord(bytes)
                #expect(!reader.subject.isEmpty)
            } catch {
                #expect(!error.message.isEmpty)
            }
        }
    }
}
