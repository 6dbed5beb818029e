import BookSources
import Basics
import FoundationEssentials
import Glibc
import TestSupport
import Testing
import Zip

@testable import Bookplate
@testable import Requests

/// The records of files that other applications have exported.
@Suite struct ImportRecordTests {
    static func fixture(_ name: String) throws -> [UInt8] {
        let folder = TestCluster.project + "/Tests/Product/BookplateTests/Library/Import/Fixtures"
        return Array(try Data(contentsOf: URL(filePath: "\(folder)/\(name)")))
    }

    private func records(_ text: String, _ format: ImportFormat? = nil) throws -> [ImportRecord] {
        Array(try ImportFile(Array(text.utf8), format: format).records())
    }

    private func books(_ file: ImportFile) -> [ImportedBook] {
        file.records().compactMap { if case .book(let book) = $0.content { book } else { nil } }
    }

    @Test func goodreadsExportIsRead() throws {
        let file = try ImportFile(Self.fixture("goodreads.csv"), format: nil)
        #expect(file.format == .goodreads)
        let books = books(file)
        #expect(books.map(\.title)[2] == "Like Water for Chocolate")
        let games = try #require(books.first)
        #expect(games.title == "The Hunger Games")
        #expect(games.series == ImportedSeries(name: "The Hunger Games", position: "1"))
        #expect(games.binding == "Hardcover" && games.originalYear == 2008)
        #expect(games.privateNotes == "Signed copy" && games.review?.hasSpoilers == true)
        #expect(games.reads.map(\.finishedOn?.text) == ["2021-03-14", nil])
        #expect(games.authors.names == ["Suzanne Collins"])
        #expect(games.isbn?.description == "9780439023481")
        #expect(games.publisher == "Scholastic Press")
        #expect(games.pageCount == 374 && games.publishedDate == "2008")
        #expect(games.status == .read)
        #expect(games.finishedAt?.text == "2021-03-14T00:00:00.000Z")
        #expect(games.addedAt == nil && games.addedOn == "2021-02-01")
        #expect(games.shelves == ["favorites", "dystopia"])
        #expect(games.review?.quarterStars == 20 && games.review?.text == "Loved it.\nTwice.")
        #expect(books.map(\.status.rawValue) == ["READ", "WANT_TO_READ", "READING", "READ"])
        #expect(books[2].reads.map(\.outcome) == [.reading])
        #expect(books[3].reads.map(\.finishedOn?.text) == ["2019-10"])
        #expect(file.survey().ignoredColumns == ["Average Rating"])
        #expect(books.map(\.copies.count) == [1, 0, 0, 0])
        #expect(books[1].isbn == nil && books[1].review == nil && books[1].shelves == [])
    }

    @Test func storyGraphExportIsRead() throws {
        let file = try ImportFile(Self.fixture("storygraph.csv"), format: nil)
        #expect(file.format == .storyGraph)
        let books = books(file)
        #expect(books.map(\.status.rawValue) == ["READ", "DID_NOT_FINISH", "READ"])
        #expect(books[0].isbn?.description == "9780374104092")
        #expect(books[0].startedAt?.text == "2022-02-01T00:00:00.000Z")
        #expect(books[0].finishedAt?.text == "2022-02-11T00:00:00.000Z")
        #expect(books[0].review?.quarterStars == 17 && books[0].moods == ["dark", "mysterious"])
        #expect(books[1].review == nil && books[1].reads == [])
        let piranesi = books[2]
        #expect(piranesi.review?.quarterStars == 18 && piranesi.review?.text == "The tides.")
        #expect(piranesi.binding == "audio" && piranesi.shelves == ["favorites", "statues"])
        // The fourth reading of `Read Count` has no date.
        #expect(
            piranesi.reads.map(\.finishedOn?.text)
                == ["2021-05", "2022-02-11", "2023-12-24", nil])
        #expect(piranesi.reads.allSatisfy { $0.format == .audio && $0.outcome == .finished })
        #expect(piranesi.reads[1].startedOn?.text == "2022-02-01")
        #expect(
            file.survey().ignoredColumns == [
                "Pace", "Character- or Plot-Driven?", "Strong Character Development?",
                "Diverse Characters?", "Flawed Characters?", "Loveable Characters?",
            ])
        #expect(books.map(\.copies.count) == [0, 1, 0])
    }

    /// Exports of earlier versions, and those of other applications, have only a status and two dates.
    @Test(
        arguments: [
            ("READ", "2019-05-01", "2019-06-01", ["FINISHED 2019-05-01 2019-06-01"]),
            ("READ", nil, nil, ["FINISHED - -"]),
            ("READ", "2020-01-01", "2019-06-01", ["FINISHED - 2019-06-01"]),
            (
                "READING", "2020-01-01", "2019-06-01",
                ["FINISHED - 2019-06-01", "READING 2020-01-01 -"]
            ),
            ("DID_NOT_FINISH", "2020-01-01", nil, ["DID_NOT_FINISH 2020-01-01 -"]),
            ("PAUSED", "2020-01-01", nil, ["READING 2020-01-01 -"]),
            ("WANT_TO_READ", nil, "2019-06-01", ["FINISHED - 2019-06-01"]),
            ("WANT_TO_READ", nil, nil, []),
        ] as [(String, String?, String?, [String])])
    func statusAndDatesBecomeReads(
        status: String, started: String?, finished: String?, expected: [String]
    ) throws {
        var book = ImportedBook(id: .version7(), title: "Title")
        book.status = try #require(ReadingStatus(rawValue: status))
        book.startedAt = started.flatMap { Instant($0 + "T23:00:00Z") }
        book.finishedAt = finished.flatMap { Instant($0 + "T23:00:00Z") }
        let reads = book.derivedReads
        #expect(
            reads.map { read in
                "\(read.outcome.rawValue) \(read.startedOn?.text ?? "-") \(read.finishedOn?.text ?? "-")"
            } == expected)
        // A second import finds the reads.
        #expect(reads.map(\.id) == book.derivedReads.map(\.id))
        #expect(Set(reads.map(\.id)).count == reads.count)
    }

    @Test func additionalAuthorsAreRead() throws {
        let goodreads = try ImportFile(
            Array(
                """
                Title,Author,Additional Authors,My Rating,Exclusive Shelf,My Review
                T,"Le Guin, Ursula K.","Neil Gaiman, Martin King, Jr., Jo Doe (Translator)",0,read,
                U,,"A, a",0,read,
                """.utf8), format: nil)
        let books = books(goodreads).map(\.authors)
        #expect(
            books[0].names == ["Le Guin, Ursula K.", "Neil Gaiman", "Martin King, Jr.", "Jo Doe"])
        #expect(books[0].roles == ["AUTHOR", "AUTHOR", "AUTHOR", "TRANSLATOR"])
        #expect(books[1].names == ["A", "a"])
        let storyGraph = try ImportFile(
            Array(
                """
                Title,Authors,Contributors,ISBN/UID,Read Status,Star Rating
                T,"Terry Pratchett, Neil Gaiman","Jim Dale (Narrator), Jo Doe",,read,
                """.utf8), format: nil)
        let book = try #require(self.books(storyGraph).first)
        #expect(book.authors.names == ["Terry Pratchett", "Neil Gaiman", "Jim Dale", "Jo Doe"])
        #expect(book.authors.roles == ["AUTHOR", "AUTHOR", "NARRATOR", "CONTRIBUTOR"])
    }

    @Test func libraryFilesWithAndWithoutListsOfAuthorsAreRead() throws {
        func authors(_ members: String) throws -> BookAuthors? {
            let file = try ImportFile(
                Array(
                    """
                    {"format": "bookplate library", "version": 1, "books": [
                      {"title": "T", "status": "READ", \(members)}]}
                    """.utf8), format: nil)
            return books(file).first?.authors
        }
        #expect(
            try authors(#""author": "Ann Bee and Carl Dee""#)?.names == ["Ann Bee", "Carl Dee"])
        let listed = try authors(
            #""author": "X", "authors": [{"name": "A"}, {"name": "B", "role": "JUGGLER"}]"#)
        #expect(listed?.names == ["A", "B"] && listed?.roles == ["AUTHOR", "CONTRIBUTOR"])
        #expect(try authors(#""authors": [{}]"#)?.names == [])
    }

    private static let header =
        "Book Id,Title,Author,My Rating,Date Read,Bookshelves,Exclusive Shelf,My Review\n"

    @Test(
        arguments: [
            ("1,,A,0,,,read,", "The title is missing. The book was left out."),
            (
                "1,\(String(repeating: "x", count: 501)),A,0,,,read,",
                "Title may have at most 500 characters. The book was left out."
            ),
            (
                "1,\"T,A,0,,,read,",
                "The record cannot be read: the closing quote of a field is missing."
            ),
        ])
    func invalidRecordsHaveAProblem(record: String, problem: String) throws {
        let records = try records(Self.header + record)
        #expect(
            records == [
                ImportRecord(line: 2, content: .nothing, problems: [ImportProblem(problem)])
            ])
    }

    @Test(
        arguments: [
            ("1,T,A,6,,,read,", "My Rating", "“6” is not between 0 and 5. It was left out."),
            ("1,T,A,x,,,read,", "My Rating", "“x” is not between 0 and 5. It was left out."),
            (
                "1,T,A,0,2021/13/30,,read,", "Date Read",
                "“2021/13/30” is not a date like 2021-03-14. It was left out."
            ),
            (
                "1,T,A,0,soon,,read,", "Date Read",
                "“soon” is not a date like 2021-03-14. It was left out."
            ),
            (
                "1,T,A,0,1/2/2023,,read,", "Date Read",
                "“1/2/2023” may be one of two days, and no other date of the file shows which. It was left out."
            ),
            (
                "1,T,A,0,2999-01-01,,read,", "Date Read",
                "“2999-01-01” is in the future. It was left out."
            ),
            (
                "1,T,A,0,,\(String(repeating: "x", count: 101)),read,", "Bookshelves",
                "Bookshelves may have at most 100 characters. It was left out."
            ),
        ])
    func oneBadFieldLosesTheFieldAndNotTheBook(record: String, field: String, problem: String)
        throws
    {
        let records = try records(Self.header + record)
        #expect(records.first?.problems == [ImportProblem(field: field, problem)])
        guard case .book(let book)? = records.first?.content else {
            Issue.record("no book")
            return
        }
        #expect(book.title == "T" && book.status == .read && book.review == nil)
        // A read book has been read, even if the date is not known.
        #expect(book.reads == [ImportedRead(outcome: .finished)])
    }

    @Test func reviewWithoutARatingIsImported() throws {
        let record = try #require(try records(Self.header + "1,T,A,0,,,read,Words").first)
        #expect(record.problems == [])
        guard case .book(let book) = record.content else {
            Issue.record("no book")
            return
        }
        #expect(
            book.title == "T" && book.review == ImportedReview(quarterStars: nil, text: "Words"))
    }

    @Test(arguments: [
        ("did-not-finish", "", "DID_NOT_FINISH", []), ("on-hold", "", "PAUSED", []),
        ("own-shelf", "2020/01/01", "READ", ["own-shelf"]),
        ("own-shelf", "", "WANT_TO_READ", ["own-shelf"]),
    ])
    func customExclusiveShelves(shelf: String, read: String, status: String, shelves: [String])
        throws
    {
        let book = try #require(
            books(
                try ImportFile(
                    Array((Self.header + "1,T,A,0,\(read),,\(shelf),").utf8), format: nil)
            ).first)
        #expect(book.status.rawValue == status && book.shelves == shelves)
    }

    @Test(arguments: [
        ("a<br/>b<br>c", "a\nb\nc"), ("<b>bold</b> &amp; <i>it</i>", "bold & it"),
        ("1 < 2 & 3 > 2", "1 < 2 & 3 > 2"), ("&#233;&#xE9;&nbsp;&unknown;", "éé &unknown;"),
        ("<p>one</p><p>two</p>", "one\n\ntwo"), ("<unclosed", "<unclosed"),
        ("&#0;&#x110000;", "&#0;&#x110000;"),
    ])
    func htmlOfReviewsBecomesText(html: String, text: String) {
        #expect(plainText(ofHTML: html) == text)
    }

    @Test(arguments: [
        ("", "The file is empty."), ("   \n", "The file is empty."),
        (
            "a,b\n1,2",
            "This is not an export in a known format. Upload the file exactly as you downloaded it from Goodreads, The StoryGraph, Hardcover, LibraryThing, Calibre, Openreads, or Bookplate."
        ),
        ("{\"format\": \"other\"}", "This file is not a library that Bookplate has exported."),
    ])
    func otherFilesAreRejected(text: String, message: String) {
        let error = #expect(throws: BookplateError.self) {
            try ImportFile(Array(text.utf8), format: nil)
        }
        #expect(error?.problem?.detail == message)
    }

    @Test func requestedFormatMustMatchTheFile() throws {
        let bytes = try Self.fixture("goodreads.csv")
        for format in ImportFormat.allCases where format != .goodreads {
            #expect(throws: BookplateError.self) { try ImportFile(bytes, format: format) }
        }
        #expect(throws: BookplateError.self) {
            try ImportFile(Array(repeating: 65, count: ImportFile.bytesMax + 1), format: nil)
        }
    }

    @Test(arguments: [";", "\t"])
    func otherSeparatorsAreAccepted(separator: String) throws {
        let text = Self.header + "1,T,A,4,,,read,"
        let records = try records(text.replacing(",", with: separator))
        #expect(records.count == 1 && records[0].problems == [])
    }

    /// Otherwise no later swipe of the card would count as newer.
    @Test func futureSwipeTimesAreClamped() throws {
        let card = "0198c0de-0000-7000-8000-000000000001"
        let file = """
            {"format": "\(BookplateFile.name)", "version": 1, "swipes": [
              {"cardId": "\(card)", "action": "LIKE", "swipedAt": "2099-01-01T00:00:00Z"},
              {"cardId": "\(card)", "action": "LIKE", "swipedAt": "2026-01-01T00:00:00Z"}]}
            """
        let times = try ImportFile(Array(file.utf8), format: nil).records().map {
            record -> Instant? in
            guard case .swipe(let swipe) = record.content else { return nil }
            return swipe.swipedAt
        }
        let (future, past) = (Instant("2098-12-31T00:00:00Z"), Instant("2026-01-01T00:00:00Z"))
        #expect(try #require(times[0]).microseconds < #require(future).microseconds)
        #expect(times[1] == past)
    }

    // MARK: - Hostile files

    /// Returns an archive with this file. The parts of its text are written one after the other, so that it can be large.
    private static func archive(_ parts: [String]) throws -> [UInt8] {
        let file = try UnnamedFile()
        let writer = try ZipWriter(descriptor: file.descriptor, time: 1_700_000_000)
        try writer.begin("library.json")
        for part in parts { try writer.write(Array(part.utf8)) }
        try writer.finish()
        return try file.bytes(0..<Int(lseek(file.descriptor, 0, SEEK_END)))
    }

    private static let head = #"{"format": "\#(BookplateFile.name)", "version": 1, "books": ["#

    /// Small archives with a large text are refused while they are unpacked.
    @Test(arguments: [
        (String(repeating: "{},", count: 20_000), 1_600, ImportFile.tooManyRecords),
        (
            String(repeating: " ", count: 60_000), 1_600,
            "The uncompressed archive is too large to import."
        ),
    ])
    func archiveThatExpandsIsRefused(part: String, count: Int, message: String) throws {
        let bytes = try Self.archive(
            [Self.head] + Array(repeating: part, count: count) + ["{}]}"])
        #expect(bytes.count < 200_000)
        let error = #expect(throws: BookplateError.self) {
            try ImportFile(bytes, format: nil)
        }
        #expect(error?.problem?.detail == message)
    }

    @Test(arguments: [true, false])
    func recordsAreCountedBeforeTheyAreRead(isTooMany: Bool) throws {
        // More commas than items may have are in the strings and in the items.
        let item = #"{"title": ",,,,\",,,", "a": [1,2,3,4,[5,6]]},"#
        let count = isTooMany ? ImportFile.recordsMax + 1_001 : 30_000
        let text =
            Self.head + (isTooMany ? "" : String(repeating: item, count: 1_000))
            + String(repeating: "1,", count: count) + "{}]}"
        if isTooMany {
            #expect(
                throws: ImportFile.invalid(ImportFile.tooManyRecords)
            ) { try ImportFile(Array(text.utf8), format: nil) }
        } else {
            #expect(try ImportFile(Array(text.utf8), format: nil).survey().total == count + 1_001)
        }
    }

    /// The books of LibraryThing are members of the object, and their members do not count as records.
    @Test func membersOfBooksAreNotCounted() throws {
        let members = (0..<40).map { ",\"m\($0)\": 1" }.joined()
        let books = (0..<3_000).map {
            #""\#($0)": {"books_id": "\#($0)", "title": "T\#($0)"\#(members)}"#
        }
        let text = "{\(books.joined(separator: ","))}"
        let file = try ImportFile(Array(text.utf8), format: .libraryThing)
        #expect(file.survey().total == 3_000)
    }

    /// The survey of a table ends at the first record that is too many.
    @Test func recordsOfATableAreCountedUpToTheMaximum() throws {
        let text =
            "Title,Author,My Rating,Exclusive Shelf\n"
            + String(repeating: ",,,\n", count: ImportFile.recordsMax + 5_000)
        #expect(
            try ImportFile(Array(text.utf8), format: nil).survey().total
                == ImportFile.recordsMax + 1)
    }
}
