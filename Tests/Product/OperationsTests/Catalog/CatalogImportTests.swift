import GraphQL
import Postgres
import TestSupport
import Testing

@testable import Bookplate
@testable import Operations

@Suite struct CatalogImportTests {
    private func count(_ database: TestDatabase) async throws -> Int {
        try await database.count("SELECT count(*) FROM editions")
    }

    @Test func secondImportChangesNothing() async throws {
        let database = try await TestCluster.shared.makeDatabase()
        let lines = TestCatalog.lines(30)
        #expect(
            try await database.importCatalog(lines).summary
                == .init(created: 30, updated: 0, unchanged: 0, failed: 0))
        #expect(
            try await database.importCatalog(lines.shuffled()).summary
                == .init(created: 0, updated: 0, unchanged: 30, failed: 0))
        #expect(try await count(database) == 30)
    }

    @Test func dryRunChangesNothing() async throws {
        let database = try await TestCluster.shared.makeDatabase()
        #expect(
            try await database.importCatalog(TestCatalog.lines(5), isDryRun: true).summary.created
                == 5)
        #expect(try await count(database) == 0)
        #expect(try await database.count("SELECT count(*) FROM genres WHERE editions > 0") == 0)
    }

    @Test func invalidLinesAreReportedAndSkipped() async throws {
        let database = try await TestCluster.shared.makeDatabase()
        let (summary, problems) = try await database.importCatalog([
            TestCatalog.line(1, genres: []), "", "not json", #"{"title":""}"#, "\r",
            TestCatalog.line(2, genres: []), #"{"title":"T","isbn13":"9780306406158"}"#,
            String(repeating: "x", count: (1 << 20) + 1), TestCatalog.line(1, genres: []),
        ])
        #expect(summary == .init(created: 2, updated: 0, unchanged: 0, failed: 5))
        #expect(problems.keys.sorted() == [3, 4, 7, 8, 9])
        #expect(problems[3] == "not JSON: an unexpected character (column 2)")
        #expect(problems[4] == "title is missing (column 10)")
        #expect(problems[7]?.hasSuffix(" (column 23)") == true)
        #expect(problems[8] == "the line is longer than 1 MiB")
        #expect(problems[9] == "this book is already on line 1")
    }

    @Test func dataThatTheFileDoesNotContainStays() async throws {
        let database = try await TestCluster.shared.makeDatabase()
        try await database.importCatalog([TestCatalog.line(1, genres: ["Fantasy"])])
        let summary = try await database.importCatalog([
            #"{"ids":{"test":"1"},"title":"New title","pageCount":777}"#
        ]).summary
        #expect(summary == .init(created: 0, updated: 1, unchanged: 0, failed: 0))
        let row = try await database.withConnection { connection in
            try connection.query(
                "SELECT title, page_count, genres, isbn13, authors[1] FROM editions")
        }
        #expect(row.text(0, 0) == "New title")
        #expect(row.int32(0, 1) == 777)
        #expect(row.texts(0, 2) == ["Fantasy"])
        #expect(row.text(0, 3) == TestCatalog.isbn(1))
        #expect(row.text(0, 4) == "Author 1")
    }

    @Test func authorsMayHaveRolesAndBiographies() async throws {
        let database = try await TestCluster.shared.makeDatabase()
        func run(_ bio: String) async throws -> CatalogImport.Summary {
            try await database.importCatalog([
                """
                {"title":"T","isbn13":"9780306406157","authors":["Ann (Illustrator)",{"name":"Bob","role":"foreword"},\
                {"name":"Cy","bio":"\(bio)"},{"name":""},{},"Di",{"name":"Eve","role":"TRANSLATOR"},{"name":"Fay"}]}
                """
            ]).summary
        }
        #expect(try await run("*First*").created == 1)
        func row() async throws -> [String?] {
            try await database.withConnection { connection in
                let row = try connection.query(
                    "SELECT authors::text, author_roles::text, (SELECT string_agg(name || ': ' || bio, ';') FROM authors) FROM editions"
                )
                return (0..<3).map { row.text(0, $0) }
            }
        }
        let roles = "{ILLUSTRATOR,CONTRIBUTOR,AUTHOR,AUTHOR,TRANSLATOR}"
        #expect(try await row() == ["{Ann,Bob,Cy,Di,Eve,Fay}", roles, "Cy: First"])
        // A newer file replaces a biography. A file without authors changes nothing.
        #expect(try await run("Second").unchanged == 1)
        #expect(try await row()[2] == "Cy: Second")
        try await database.importCatalog([#"{"title":"U","isbn13":"9780306406157"}"#])
        #expect(try await row() == ["{Ann,Bob,Cy,Di,Eve,Fay}", roles, "Cy: Second"])
        // Other roles are a change.
        let changed = try await database.importCatalog([
            #"{"title":"U","isbn13":"9780306406157","authors":["Ann","Bob","Cy","Di","Eve","Fay"]}"#
        ]).summary
        #expect(changed.updated == 1)
        #expect(try await row()[1] == "{}")
    }

    @Test func matchesBooksByISBNAndExternalID() async throws {
        let database = try await TestCluster.shared.makeDatabase()
        try await database.importCatalog([#"{"ids":{"a":"1"},"title":"T"}"#])
        // The second record adds the ISBN. The third one has another source and matches by ISBN.
        try await database.importCatalog([
            #"{"ids":{"a":"1"},"title":"T","isbn13":"9780306406157"}"#
        ])
        let last = try await database.importCatalog([
            #"{"ids":{"b":"9"},"title":"T","isbn10":"0306406152"}"#
        ])
        #expect(last.summary.created == 0)
        #expect(try await count(database) == 1)
        #expect(try await database.count("SELECT count(*) FROM edition_sources") == 2)
        // The same external id with two ISBNs belongs to two editions of a work.
        let other = try await database.importCatalog([
            #"{"ids":{"a":"1"},"title":"T","isbn13":"9780804429573"}"#
        ])
        #expect(other.summary.created == 1)
    }

    /// A failed import changes nothing.
    @Test func importIsOneTransaction() async throws {
        let database = try await TestCluster.shared.makeDatabase()
        try await database.execute("ALTER TABLE editions ADD CHECK (title <> 'Card 3')")
        await #expect(throws: PostgresError.self) {
            try await database.importCatalog(TestCatalog.lines(5))
        }
        #expect(try await count(database) == 0)
    }

    @Test func newBooksAppearInTheFeed() async throws {
        let app = try await TestApp.start(catalog: TestCatalog.lines(4))
        let reader = try await app.makeReader()
        #expect(try await reader.feedCards(50).count == 4)
        try await app.database.importCatalog(TestCatalog.lines(9))
        #expect(try await reader.feedCards(50).count == 9)
    }
}
