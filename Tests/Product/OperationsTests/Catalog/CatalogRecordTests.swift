import TestSupport
import Testing

@testable import Bookplate
@testable import Operations

@Suite struct CatalogRecordTests {
    private func record(_ line: String) throws(CatalogRecord.Problem) -> CatalogRecord {
        try CatalogRecord(line: Array(line.utf8))
    }

    @Test func readsAllFields() throws {
        let record = try record(
            """
            {"ids":{"goodreads":"1","wikidata":"Q1"},"title":" Dune ","subtitle":"Part","series":"Dune",\
            "seriesPosition":"1","authors":["Frank Herbert",""],"isbn13":"978-0-306-40615-7",\
            "publisher":"Chilton","publishedDate":"1965-08-01","language":"en","pageCount":412,\
            "genres":["SF","SF","Classics"],"description":"Sand.","averageRating":4.5,"ratingsCount":7}
            """)
        #expect(record.title == "Dune")
        #expect(record.authors.map(\.name) == ["Frank Herbert"])
        #expect(record.isbn?.description == "9780306406157")
        #expect(record.publishedDate?.text == "1965-08-01")
        #expect(record.pageCount == 412)
        #expect(record.subjects == ["SF", "Classics"])
        #expect(record.averageRating == 4.5)
        #expect(record.ratingsCount == 7)
        #expect(record.sources.map(\.key) == ["1", "Q1"])
    }

    @Test func onlyTheTitleIsRequired() throws {
        let record = try record(
            #"{"title":"T","isbn13":null,"authors":null,"ids":null,"pageCount":0}"#)
        #expect(record.isbn == nil)
        #expect(record.authors == [])
        #expect(record.pageCount == nil)
        #expect(record.ratingsCount == 0)
        #expect(record.sources.isEmpty)
    }

    @Test(arguments: [
        (#"{"title":"T","isbn10":"0306406152"}"#, "9780306406157"),
        (#"{"title":"T","isbn10":"080442957X","isbn13":null}"#, "9780804429573"),
    ])
    func readsISBN10AndISBN13(line: String, isbn: String) throws {
        #expect(try record(line).isbn?.description == isbn)
    }

    @Test(arguments: [
        ("", "not JSON"), ("{", "not JSON"), ("[]", "not an object"), ("null", "not an object"),
        ("{}", "title is missing"), (#"{"title":""}"#, "title is missing"),
        (#"{"title":" "}"#, "title is missing"), (#"{"title":true}"#, "title is not text"),
        (#"{"title":"T","isbn13":"9780306406158"}"#, "ISBN 9780306406158: "),
        (#"{"title":"T","title":"U"}"#, "not JSON"),
        (#"{"title":"\#(String(repeating: "x", count: 501))"}"#, "at most 500 characters"),
    ])
    func reportsTheProblem(line: String, message: String) {
        let problem = #expect(throws: CatalogRecord.Problem.self) { try record(line) }
        #expect(problem?.message.contains(message) == true, "\(problem?.message ?? "")")
    }

    /// Columns are counted in characters, as in a text editor.
    @Test(
        arguments: [
            (#"{"title": true}"#, 11), (#"{"ids":{"title":"a"},"title":true}"#, 30),
            (#"{"description":"\"title\":é","title":[]}"#, 38), (#"{"title":"É" "isbn13":1}"#, 14),
            (#"{"title":"T","title":"U"}"#, 14), ("{}", nil), ("{", nil),
        ] as [(String, Int?)])
    func findsTheColumnOfTheProblem(line: String, column: Int?) throws {
        let problem = try #require(
            #expect(throws: CatalogRecord.Problem.self) { try record(line) }
        ).located(in: Array(line.utf8))
        #expect(
            column.map { problem.message.hasSuffix(" (column \($0))") }
                ?? !problem.message.contains("column"), "\(problem.message)")
    }

    @Test(arguments: [
        (#"{"title":"T","ratingsCount":-5}"#, 0),
        (#"{"title":"T","ratingsCount":99999999999}"#, Int32.max),
        (#"{"title":"T","ratingsCount":"many"}"#, 0), (#"{"title":"T","ratingsCount":1e400}"#, 0),
    ])
    func clampsCounts(line: String, count: Int32) throws {
        #expect(try record(line).ratingsCount == count)
    }

    @Test func hookIsOneLineOfAtMost140Characters() throws {
        #expect(
            try record(#"{"title":"T","hook":" A <b>good</b>\n sentence. "}"#).hook
                == "A good sentence.")
        #expect(try record(#"{"title":"T","hook":null}"#).hook == nil)
        let long = try record(#"{"title":"T","hook":"\#(String(repeating: "x", count: 141))"}"#)
        #expect(long.hook == nil)
        #expect(
            long.problems.map(\.message) == [
                "Hook may have at most 140 characters. It was left out"
            ])
    }
}
