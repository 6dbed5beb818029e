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
        let records =
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
                    ]), .hardcover)
        let books = books(records)
        #expect(
            records.flatMap(\.problems).filter { $0.field == "Series" } == [
                ImportProblem(
                    field: "Series", "A book has one series: “The Cosmere, #3” was left out.")
            ])
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
        // "Undetermined" is a language of the standard.
        #expect(records.flatMap(\.problems) == [])
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

    // MARK: - Lost values

    private func records(_ names: String, _ row: [String], _ format: ImportFormat) throws
        -> (book: ImportedBook, problems: [ImportProblem])
    {
        let records = try read(table(names, [row]), format)
        return (try #require(books(records).first), records.flatMap(\.problems))
    }

    /// The length belongs to a read of the audiobook, also if its dates are not known.
    @Test(
        arguments: [
            ("Read", "Audio", [3600], false), ("Currently Reading", "Audio", [3600], false),
            ("Want to Read", "Audio", [], true), ("Did Not Finish", "Audio", [], true),
            ("Read", "Book", [nil], true),
        ] as [(String, String, [Int32?], Bool)])
    func lengthOfAnAudiobookIsKeptOrReported(
        status: String, media: String, lengths: [Int32?], isReported: Bool
    ) throws {
        let (book, problems) = try records(
            "Title,Author,Status,Hardcover Book ID,Media,Duration in Seconds",
            ["T", "A", status, "1", media, "3600"], .hardcover)
        #expect(book.reads.map(\.lengthSeconds) == lengths)
        #expect(book.reads.allSatisfy { ($0.format == .audio) == (media == "Audio") })
        #expect(problems.map(\.field) == (isReported ? ["Duration in Seconds"] : []))
    }

    /// Barcodes of other products are reported, whatever their length.
    @Test(arguments: [
        ("96385074", ISBN.Problem.ean8), ("036000291452", .upc), ("9780306406158", .checkDigit),
    ])
    func numbersThatAreNoISBNsAreReported(number: String, problem: ISBN.Problem) throws {
        let goodreads = try records(
            "Title,Author,ISBN13,My Rating,Exclusive Shelf,My Review",
            ["T", "A", "=\"\(number)\"", "0", "read", ""], .goodreads)
        let openReads = try records(
            "title,author,status,olid,isbn", ["T", "A", "planned", "OL1M", number], .openReads)
        let message = "“\(number)”: \(problem.message) It was left out."
        #expect(!message.contains(".."))
        for (result, field) in [(goodreads, "ISBN13"), (openReads, "isbn")] {
            #expect(result.book.isbn == nil)
            #expect(result.problems == [ImportProblem(field: field, message)])
        }
    }

    @Test(arguments: ["Undetermined", "Multiple languages", "und", "mul"])
    func noSingleLanguageIsNull(language: String) throws {
        let (book, problems) = try records(
            "Book Id,Title,Primary Author,Languages", ["1", "T", "A", language], .libraryThing)
        #expect(book.language == nil && problems == [])
    }

    @Test func furtherSeriesOfATitleAreReported() throws {
        let (book, problems) = try records(
            "Title,Author,My Rating,Exclusive Shelf,My Review",
            ["T (Discworld, #1; Rincewind, #1; Death, #0.5)", "A", "0", "read", ""], .goodreads)
        #expect(book.series == ImportedSeries(name: "Discworld", position: "1"))
        #expect(
            problems == [
                ImportProblem(
                    field: "Title",
                    "A book has one series: “Rincewind, #1; Death, #0.5” was left out.")
            ])
    }

    /// Names with a suffix may have the family name first, in formats with commas between names.
    @Test(arguments: [
        ("Vonnegut, Kurt, Jr.", ["Kurt Vonnegut, Jr."]),
        ("King, Martin Luther, Jr.", ["Martin Luther King, Jr."]),
        ("Davis, Arthur, III", ["Arthur Davis III"]),
        ("Ann Bee, Vonnegut, Kurt, Jr.", ["Ann Bee", "Kurt Vonnegut, Jr."]),
        ("Ann Bee, Cy Dee, Jr.", ["Ann Bee", "Cy Dee, Jr."]),
    ])
    func suffixesBelongToNames(cell: String, names: [String]) throws {
        for (format, columns) in [
            (ImportFormat.storyGraph, "Title,Authors,Read Status,Star Rating"),
            (.hardcover, "Title,Author,Status,Hardcover Book ID"),
            (.calibre, "title,authors,author_sort,timestamp"),
        ] {
            let (book, _) = try records(columns, ["T", cell, "", ""], format)
            #expect(book.authors.names == names, "\(format)")
        }
    }
}
