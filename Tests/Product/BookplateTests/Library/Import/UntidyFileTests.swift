import BookSources
import Requests
import TestSupport
import Testing

@testable import Bookplate

/// Files with values as readers' real exports have them: markup, entities, days that do not exist, and unusual series.
@Suite struct UntidyFileTests {
    private func read(_ bytes: [UInt8], _ format: ImportFormat) throws -> [ImportRecord] {
        let file = try ImportFile(bytes, format: nil)
        #expect(file.format == format)
        return Array(file.records(dayOrder: file.survey().dayOrder))
    }

    private func books(_ records: [ImportRecord]) -> [ImportedBook] {
        records.compactMap { if case .book(let book) = $0.content { book } else { nil } }
    }

    private func table(
        _ names: String, _ rows: [[String]], separator: String = ",", isQuoted: Bool = true
    ) -> [UInt8] {
        let lines = rows.map { row in
            row.map { isQuoted ? "\"\($0.replacing("\"", with: "\"\""))\"" : $0 }
                .joined(separator: separator)
        }
        return Array(([names] + lines).joined(separator: "\n").utf8)
    }

    /// The dialect of a file is found in its first 4 MiB, which may contain no complete line.
    @Test(arguments: ["\n", "\t", "x", "\""])
    func fileWithoutLinesIsRefused(text: String) {
        let bytes = [UInt8](repeating: Array(text.utf8)[0], count: 4 << 20) + Array("x".utf8)
        #expect(throws: BookplateError.self) { try ImportFile(bytes, format: nil) }
        _ = CSVDialect(separator: 0x09, of: bytes)
    }

    @Test func goodreads() throws {
        let records = try read(
            table(
                "Title,Author,Additional Authors,ISBN13,My Rating,Date Read,Exclusive Shelf,My Review,Publisher",
                [
                    [
                        "Foundation (Foundation (Publication Order), #1)",
                        "Ren&eacute; Thi&eacute;blemont",
                        "Ann Bee, Cy Dee, Jr.", "=\"]E09780306406157\"", "5", "2019-02-29", "read",
                        "&lt;b&gt; is a tag.<br/><div>One.</div><div>Two.</div>",
                        "Caf&eacute; &amp; Co.",
                    ],
                    [
                        "T (S, #½)", "&#1055;&#1110;&#1076;", "", "09780306406157", "0", "",
                        "to-read", "", "",
                    ],
                ]), .goodreads)
        let books = books(records)
        #expect(books.map(\.title) == ["Foundation", "T"])
        #expect(
            books[0].series == ImportedSeries(name: "Foundation (Publication Order)", position: "1")
        )
        #expect(books[1].series == ImportedSeries(name: "S", position: "0.5"))
        #expect(books[0].authors.names == ["René Thiéblemont", "Ann Bee", "Cy Dee, Jr."])
        #expect(books[1].authors.names == ["Під"] && books[0].publisher == "Café & Co.")
        #expect(books.map { $0.isbn?.description } == ["9780306406157", "9780306406157"])
        #expect(books[0].review?.text == "<b> is a tag.\nOne.\nTwo.")
        #expect(books[0].reads.map(\.finishedOn?.text) == ["2019-02"])
        #expect(
            records.flatMap(\.problems) == [
                ImportProblem(
                    field: "Date Read", "“2019-02-29” does not exist. The day was left out.")
            ])
    }

    @Test func storyGraph() throws {
        let books = books(
            try read(
                table(
                    "Title,Authors,Contributors,ISBN/UID,Read Status,Dates Read,Star Rating,Review",
                    [
                        [
                            "T (S, #10-12, 14)", "Zo&euml; Lee", "", "9780306406157 boxed set",
                            "read",
                            "2022/02/30", "4.25", "<ul><li>a</li><li>b</li></ul>",
                        ]
                    ]), .storyGraph))
        #expect(books[0].title == "T" && books[0].series?.position == "10-12, 14")
        #expect(books[0].authors.names == ["Zoë Lee"] && books[0].isbn != nil)
        #expect(books[0].reads.map(\.finishedOn?.text) == ["2022-02"])
        #expect(books[0].review?.text == "a\nb")
    }

    @Test func hardcover() throws {
        let books = books(
            try read(
                table(
                    "Title,Author,Series,Status,Hardcover Book ID,ISBN 13,Media,Binding,Language Code,Duration in Seconds,Date Finished,Publish Date",
                    [
                        [
                            "T", "Brandon S.", "Mistborn (#1.0), The Cosmere (#3.0)", "Read", "1",
                            "9780306406157", "Audio", "", "Thai", "25686", "2023-09-20", "20040115",
                        ],
                        [
                            "U", "A", "S (#-1)", "Want to Read", "2", "", "Book", "", "und", "", "",
                            "June 31, 2015",
                        ],
                    ]), .hardcover))
        #expect(books[0].series == ImportedSeries(name: "Mistborn", position: "1"))
        #expect(books[0].reads.map(\.lengthSeconds) == [25686] && books[0].language == "th")
        #expect(books[1].series?.position == "-1" && books[1].language == nil)
        #expect(books.map(\.publishedDate) == ["2004-01-15", "2015-06"])
    }

    @Test func calibre() throws {
        let records = try read(
            table(
                "author_sort,authors,comments,identifiers,isbn,languages,series,series_index,timestamp,title,uuid",
                [
                    [
                        "Le, A", "A. Le",
                        "<div>\n<p>A <b>bold</b> book.</p>\n<p>Caf&eacute;</p></div>", "", "",
                        "per", "S", "1.5", "2020-05-01T20:53:11+02:00", "R&amp;D",
                        "f145e701-fea4-43d0-92e7-5631cf1c336f",
                    ]
                ]), .calibre)
        let book = try #require(books(records).first)
        #expect(book.description == "A bold book.\n\nCafé" && book.title == "R&D")
        #expect(book.language == "fa" && records.flatMap(\.problems) == [])
    }

    @Test func openReads() throws {
        let book = try #require(
            books(
                try read(
                    table(
                        "title,author,description,status,olid,isbn,publication_year",
                        [
                            [
                                "T", "King, Martin Luther, Jr.", "&lt;p&gt;One.&lt;/p&gt;",
                                "finished", "OL1M", "ISBN 13 9780306406157", "2010",
                            ]
                        ]),
                    .openReads)
            ).first)
        #expect(book.description == "One." && book.isbn?.description == "9780306406157")
    }

    @Test func libraryThing() throws {
        let names = "Book Id\tTitle\tPrimary Author\tComment\tReview\tLanguages\tISBN\tPublication"
        let records = try read(
            table(
                names,
                [
                    [
                        "1", "\"A\" Is for Alibi", "Grafton, Sue", "\"signed by her", "", "Welsh",
                        "[0306406152]", "Holt",
                    ],
                    [
                        "2", "Second", "Vonnegut, Kurt, Jr.", "", "\"Good.\"", "Greek, Modern", "",
                        "",
                    ],
                    ["3", "Third", "Davis, Arthur, III", "", "a\"b", "Undetermined", "", ""],
                ], separator: "\t", isQuoted: false), .libraryThing)
        let books = books(records)
        #expect(books.map(\.title) == ["\"A\" Is for Alibi", "Second", "Third"])
        #expect(
            books.map { $0.authors.names } == [
                ["Sue Grafton"], ["Kurt Vonnegut, Jr."], ["Arthur Davis III"],
            ])
        #expect(books[0].privateNotes == "\"signed by her" && books[1].review?.text == "\"Good.\"")
        #expect(books.map(\.language) == ["cy", "el", nil] && books[0].isbn != nil)
        #expect(records.flatMap(\.problems).map(\.field) == ["Languages"])
    }

    /// One bad character loses neither the record nor the others of the file.
    @Test func libraryThingJSON() throws {
        var bytes = Array(
            #"{"1": {"books_id": "1", "title": "A fox \ud83e runs", "primaryauthor": "Bee, Ann", "rating": NaN},"#
                .utf8)
        bytes += Array(#" "2": {"books_id": "2", "title": "Caf"#.utf8) + [0xE9]
        bytes += Array(#" É", "primaryauthor": "Dee, Cy"}}"#.utf8)
        let books = books(try read(bytes, .libraryThing))
        #expect(books.map(\.title) == ["A fox \u{FFFD} runs", "Café É"])
        #expect(books.map { $0.authors.names } == [["Ann Bee"], ["Cy Dee"]])
    }

    @Test func bookplate() throws {
        let text = #"""
            {"format":"bookplate library","version":1,"books":[
            {"id":"0198c0de-0000-7000-8000-0000000000b1","title":"A \ud83e fox\u0000 &amp; <b>","status":"READ","stars":NaN},
            {"id":"0198c0de-0000-7000-8000-0000000000b2","title":"B","status":"READ"}]}
            """#
        let books = books(try read(Array(text.utf8), .bookplate))
        // Bookplate's own texts have no markup, so they are not changed otherwise.
        #expect(books.map(\.title) == ["A \u{FFFD} fox &amp; <b>", "B"])
    }
}
