import BookSources
import TestBasics
import TestSupport
import Testing

@testable import Bookplate
@testable import Requests

/// The exports of applications that keep more than Goodreads does.
@Suite struct ImportFormatTests {
    private func file(_ name: String, _ format: ImportFormat) throws -> ImportFile {
        let bytes = try ImportRecordTests.fixture(name)
        let file = try ImportFile(bytes, format: nil)
        #expect(file.format == format)
        #expect(try ImportFile(bytes, format: format).format == format)
        return file
    }

    private func books(_ file: ImportFile) -> [ImportedBook] {
        file.records().compactMap { if case .book(let book) = $0.content { book } else { nil } }
    }

    @Test func hardcoverExportIsRead() throws {
        let file = try file("hardcover.csv", .hardcover)
        let books = books(file)
        #expect(books.map(\.status.rawValue) == ["READ", "READING", "WANT_TO_READ"])
        let hyperion = books[0]
        #expect(hyperion.authors.names == ["Dan Simmons", "Helena Fraga"])
        #expect(hyperion.authors.roles == ["AUTHOR", "TRANSLATOR"])
        #expect(hyperion.series == ImportedSeries(name: "Hyperion Cantos", position: "1"))
        #expect(hyperion.isbn?.description == "9780553283686" && hyperion.pageCount == 482)
        #expect(hyperion.publishedDate == "1990-03-01" && hyperion.publisher == "Spectra")
        #expect(hyperion.language == "en" && hyperion.genre == "Science Fiction")
        #expect(hyperion.moods == ["dark", "mysterious"] && hyperion.privateNotes == "Lent to Ada")
        #expect(hyperion.shelves == ["Owned", "To discuss"])
        #expect(
            hyperion.reads.map { [$0.startedOn?.text, $0.finishedOn?.text] }
                == [["2023-09-01", "2023-09-20"]])
        #expect(hyperion.review?.quarterStars == 18 && hyperion.review?.hasSpoilers == true)
        #expect(hyperion.review?.createdAt?.text == "2025-01-15T13:56:57.000Z")
        #expect(books[1].series?.position == "0" && books[1].binding == "Audio")
        #expect(books[1].reads.map(\.outcome) == [.reading] && books[1].review == nil)
        #expect(books[1].reads[0].format == .audio && books[1].reads[0].lengthSeconds == 25686)
        #expect(books[2].authors.names.first == "Roberto Bolaño")
        #expect(
            file.survey().ignoredColumns
                == ["Privacy", "Country Code", "ASIN"])
        #expect(books.map(\.copies.count) == [1, 0, 0])
    }

    @Test func libraryThingTableIsRead() throws {
        let file = try file("librarything.tsv", .libraryThing)
        let books = books(file)
        #expect(books.map(\.status.rawValue) == ["READ", "WANT_TO_READ"])
        let marelle = books[0]
        #expect(
            marelle.authors.names == [
                "Julio Cortázar", "Laure Guille-Bataillon", "Françoise Rosset",
            ])
        #expect(marelle.authors.roles == ["AUTHOR", "TRANSLATOR", "TRANSLATOR"])
        #expect(marelle.isbn?.description == "9782070291342" && marelle.publisher == "Gallimard")
        #expect(marelle.publishedDate == "1979" && marelle.pageCount == 590)
        #expect(marelle.language == "fr" && marelle.binding == "Broché")
        #expect(marelle.privateNotes == "Offert par Anna")
        #expect(marelle.review?.text == "Un chef d'œuvre." && marelle.review?.quarterStars == 18)
        #expect(marelle.shelves == ["Favorites", "roman", "bohème"])
        #expect(
            marelle.reads.map { [$0.startedOn?.text, $0.finishedOn?.text] }
                == [["2007-04-16", "2007-05-08"]])
        #expect(marelle.addedAt == nil && marelle.addedOn == "2006-08-09")
        #expect(books[1].reads == [] && books[1].shelves == [])
        #expect(
            file.survey().ignoredColumns
                == ["Physical Description", "Original Languages", "Source", "Work id"])
    }

    @Test func libraryThingJSONIsRead() throws {
        let file = try file("librarything.json", .libraryThing)
        let books = books(file)
        #expect(books.map(\.title) == ["A Wizard of Earthsea", "Tehanu"])
        #expect(books.map(\.status.rawValue) == ["READ", "WANT_TO_READ"])
        let wizard = books[0]
        #expect(wizard.series == ImportedSeries(name: "Earthsea Cycle", position: "1"))
        #expect(wizard.authors.names == ["Ursula K. Le Guin", "Ruth Robbins"])
        #expect(wizard.authors.roles == ["AUTHOR", "ILLUSTRATOR"])
        #expect(wizard.isbn?.description == "9780553383041" && wizard.pageCount == 183)
        #expect(wizard.review?.quarterStars == 18 && wizard.review?.text == "Names & shadows.")
        #expect(wizard.shelves == ["fantasy", "islands"] && wizard.binding == "Paperback")
        #expect(wizard.reads.map(\.finishedOn?.text) == ["2020-10-01"])
        let survey = file.survey()
        #expect(survey.total == 2)
        #expect(
            survey.ignoredColumns
                == [
                    "public", "asin", "ean", "originallanguage", "lcc", "source", "workcode",
                    "height",
                ])
    }

    @Test func calibreCatalogIsRead() throws {
        let file = try file("calibre.csv", .calibre)
        let books = books(file)
        #expect(books.map(\.status.rawValue) == ["READ", "WANT_TO_READ"])
        let games = books[0]
        #expect(games.series == ImportedSeries(name: "Culture", position: "2"))
        #expect(games.goodreadsID == "18630" && games.isbn?.description == "9780316005401")
        #expect(games.description == "A novel of the Culture." && games.language == "en")
        #expect(games.binding == "epub, pdf" && games.publishedDate == "2008-03-26")
        #expect(
            games.review?.quarterStars == 18 && games.shelves == ["Science Fiction", "Space opera"])
        #expect(games.addedAt?.text == "2020-05-01T18:53:11.000Z")
        #expect(books[1].authors.names == ["Neil Gaiman", "Terry Pratchett"])
        #expect(books[1].publishedDate == nil)
        #expect(file.survey().ignoredColumns == [])
    }

    @Test func openReadsExportIsRead() throws {
        let file = try file("openreads.csv", .openReads)
        let books = books(file)
        #expect(books.map(\.status.rawValue) == ["READ", "READING"])
        let winter = books[0]
        #expect(winter.title == "The Left Hand of Darkness")
        #expect(winter.subtitle == "50th Anniversary Edition")
        #expect(winter.shelves == ["classics", "winter", "Favourites"])
        #expect(winter.privateNotes == "Ask Bo" && winter.binding == "paperback")
        #expect(winter.review?.quarterStars == 18 && winter.review?.text == "Read it twice.")
        #expect(winter.publishedDate == "2019" && winter.publisher == "Ace")
        #expect(
            winter.reads.map { [$0.startedOn?.text, $0.finishedOn?.text] }
                == [["2019-03-01", "2019-03-20"], ["2022-12-01", "2022-12-11"]])
        #expect(books[1].reads.map(\.startedOn?.text) == ["2024-01-05"])
        #expect(
            file.records().flatMap(\.problems) == [
                ImportProblem("The book is in the trash of Openreads. It was left out.")
            ])
        #expect(file.survey().ignoredColumns == [])
    }

    @Test func anotherRecordOfABookCountsAsAnotherRead() throws {
        let text = """
            Title,Author,My Rating,Date Read,Read Count,Exclusive Shelf
            Dune,Frank Herbert,0,,1,read
            DUNE,Frank Herbert,0,2020/01/02,1,read
            """
        let reads = books(try ImportFile(Array(text.utf8), format: nil)).map(\.reads.count)
        #expect(reads == [1, 2])
    }

    @Test(arguments: [
        ("T (S, #1)", "T", "S", "1"), ("T (S #2.5)", "T", "S", "2.5"),
        ("T (Discworld, #1; Rincewind, #1)", "T", "Discworld", "1"),
        ("T (S, #1-3)", "T", "S", "1-3"), ("T: (Not) a series", nil, nil, nil),
        ("T (a film)", nil, nil, nil), ("(S, #1)", nil, nil, nil), ("T (#1)", nil, nil, nil),
        ("T (S (Publication Order), #1)", "T", "S (Publication Order)", "1"),
        ("T (The #1 Bestseller)", nil, nil, nil), ("T (S, #½)", "T", "S", "0.5"),
        ("T (S, #1½)", "T", "S", "1.5"), ("T (S, #-1)", "T", "S", "-1"),
        ("T (S, #10-12, 14)", "T", "S", "10-12, 14"), ("T (S, #0.0)", "T", "S", "0"),
        ("T (S, #8, Part 1 of 2)", "T", "S", "8, Part 1 of 2"), ("T (S, #1))", nil, nil, nil),
        ("T (Agent #9 Saga, #2)", "T", "Agent #9 Saga", "2"), ("T ()", nil, nil, nil),
        ("T (A (B), #1; C, #2)", "T", "A (B)", "1"),
    ])
    func seriesIsSeparatedFromTheTitle(
        title: String, rest: String?, name: String?, position: String?
    ) {
        let split = ImportedSeries.separate(title)
        #expect(split?.title == rest && split?.series.name == name)
        #expect(split?.series.position == position)
    }

    @Test(
        arguments: [
            ("Mistborn (#1.0), The Cosmere (#3.0)", "Mistborn", "1"),
            ("Discworld, #1, Rincewind, #1", "Discworld", "1"), ("Sprawl", nil, nil),
        ] as [(String, String?, String?)])
    func firstOfSeveralSeriesCounts(cell: String, name: String?, position: String?) {
        let series = ImportedSeries(numbered: cell)
        #expect(series?.name == name && series?.position == position)
    }

    /// With random cells in the columns of any format, each record becomes a book or a problem.
    @Test(arguments: Array(UInt64(1)...30))
    func randomCellsAreReadOrReported(seed: UInt64) throws {
        var random = SeededGenerator(seed)
        let pieces = [
            "1", "2021/03/14", "14.3.2021", "x", "\u{0}", "é", " ", "-", "|", ";", "#1", "(S, #1)",
            "4.5",
            "999999999999999999999", "true", "READ", "read", "<b>", "&#x1F600;", "[2007]", "𝕏",
            "\u{1F}", "9780439023481",
        ]
        for (format, table) in ImportFormat.tables {
            let columns =
                table.needed + table.distinctive + [
                    "Dates Read", "Date Read", "Series", "readings", "Star Rating", "My Review",
                    "isbn",
                    "Read Count", "Moods", "Lists", "pubdate", "Page Count", "Collections",
                    "identifiers",
                ]
            let header = columns.joined(separator: ",")
            let lines = (0..<20).map { _ in
                columns.map { _ in
                    "\""
                        + (0..<Int.random(in: 0..<4, using: &random)).map { _ in
                            pieces.randomElement(using: &random) ?? ""
                        }.joined() + "\""
                }.joined(separator: ",")
            }
            let file = try ImportFile(
                Array(([header] + lines).joined(separator: "\n").utf8), format: format)
            for record in file.records() {
                if case .book(let book) = record.content {
                    #expect(!book.title.isEmpty && book.reads.count <= ImportedRead.countMax)
                } else {
                    #expect(!record.problems.isEmpty)
                }
            }
        }
    }
}
