import BookSources
import GraphQL
import Logging
import Postgres
import TestBasics
import TestSupport
import Testing

@testable import Bookplate
@testable import JobQueue
@testable import Requests

/// The job that completes the metadata of books.
@Suite struct CompleteBookTests {
    static let book = """
        query($id: ID!) { book(id: $id) { title author publisher pageCount description card { title } } }
        """

    /// Runs a worker until every job has been attempted.
    private func runJobs(_ app: TestApp, _ sources: SourceChain) async throws {
        let worker = JobWorker(
            [CompleteBook(sources: sources)], database: app.pool, name: "test",
            userChangeChannel: Hub.changeChannel,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let running = Task { await worker.run() }
        try await waitUntil("every job has been attempted") {
            try await app.database.count(Self.waiting) == 0
        }
        worker.stop()
        await running.value
    }

    private static let waiting = """
        SELECT count(*) FROM jobs WHERE kind = 'book.complete' AND (attempts = 0 OR state = 'RUNNING')
        """

    @Test(arguments: ["create", "createMany", "update"])
    func emptyFieldsAreFilledLater(how: String) async throws {
        let source = TestSource(["9780140328721": LookupISBNTests.fox])
        let sources = SourceChain([source.source(.openLibrary)])
        let app = try await TestApp.start(sources: sources)
        let reader = try await app.makeReader()
        let input: Value = ["title": "The fox", "isbn": "0140328726", "genre": "Mine"]
        let id: Value
        switch how {
        case "create": id = try await reader.makeBook(input)
        case "createMany":
            id = try await reader.requireValue(
                "mutation($i: [CreateBookInput!]!) { createBooks(inputs: $i) { book { id } } }",
                ["i": [input]], "createBooks", 0, "book", "id")
        default:
            id = try await reader.makeBook(["title": "The fox"])
            _ = try await reader.requireValue(
                #"mutation($id: ID!) { updateBook(id: $id, input: {isbn: "9780140328721"}) { id } }"#,
                ["id": id], "updateBook")
        }
        #expect(source.requests.isEmpty)
        try await runJobs(app, sources)
        #expect(source.requests == ["9780140328721"])
        let book = try await reader.requireValue(Self.book, ["id": id], "book")
        #expect(book["title"] == "The fox")
        #expect(book["author"] == "Roald Dahl, Quentin Blake")
        #expect(book["publisher"] == "Puffin")
        #expect(book["pageCount"] == 96)
        #expect(book["card", "title"] == "Fantastic Mr. Fox")
        #expect(
            try await app.database.count("SELECT count(*) FROM jobs WHERE kind = 'book.complete'")
                == 0)
    }

    @Test func jobIsRetriedIfNoSourceResponds() async throws {
        let source = TestSource(["9780140328721": LookupISBNTests.fox])
        source.fail(with: .busy)
        let sources = SourceChain([source.source(.openLibrary)])
        let app = try await TestApp.start(sources: sources)
        let reader = try await app.makeReader()
        let id = try await reader.makeBook(["title": "The fox", "isbn": "0140328726"])
        try await runJobs(app, sources)
        #expect(
            try await app.database.count("SELECT attempts FROM jobs WHERE kind = 'book.complete'")
                == 1)
        source.fail(with: nil)
        try await app.database.execute(
            "UPDATE jobs SET run_at = now(), attempts = 0 WHERE kind = 'book.complete'")
        try await runJobs(app, sources)
        let book = try await reader.requireValue(Self.book, ["id": id], "book")
        #expect(book["card", "title"] == "Fantastic Mr. Fox")
    }

    /// The reader may add another book of the same edition before the job runs.
    @Test func editionIsAssignedToOnlyOneBook() async throws {
        let source = TestSource(["9780140328721": LookupISBNTests.fox])
        let sources = SourceChain([source.source(.openLibrary)])
        let app = try await TestApp.start(sources: sources)
        let reader = try await app.makeReader()
        let id = try await reader.makeBook(["title": "Mine", "isbn": "9780140328721"])
        let card = try await reader.requireValue(
            LookupISBNTests.lookup, ["isbn": "9780140328721"], "lookupISBN", "id")
        try await app.database.execute("UPDATE books SET isbn13 = NULL")
        _ = try await reader.makeBook(["cardId": card])
        try await app.database.execute(
            "UPDATE books SET isbn13 = NULL WHERE edition_id IS NOT NULL")
        try await app.database.execute(
            "UPDATE books SET isbn13 = '9780140328721' WHERE edition_id IS NULL")
        try await runJobs(app, sources)
        let book = try await reader.requireValue(Self.book, ["id": id], "book")
        #expect(book["card"] == .null)
    }
}
