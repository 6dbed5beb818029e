import TestBasics
import Testing

@testable import BookSources

/// The forms in which sources have written the fields of a record.
@Suite struct RecordShapeTests {
    private static let library = OpenLibrary(
        unreachable, SourceLimits(), url: "", coversURL: "https://covers.example")

    private static func json(_ text: String) throws -> JSON {
        try #require(JSON(Array(text.utf8)))
    }

    /// The authors of works and editions at Open Library, in a list or alone.
    @Test(arguments: [
        #"[{"author": {"key": "/authors/OL1A"}, "type": {"key": "/type/author_role"}}]"#,
        #"[{"type": "/type/author_role", "author": "/authors/OL1A"}]"#, #"["/authors/OL1A"]"#,
        #"[{"key": "/authors/OL1A"}]"#, #"{"key": "/authors/OL1A"}"#, #""/authors/OL1A""#,
        #""OL1A""#, #"[null, {"key": "/authors/OL1A"}, {"key": "/authors/OL1A"}]"#,
        #"[{"author": {"key": {"key": "/authors/OL1A"}}}]"#,
        #"[{"url": "https://openlibrary.org/authors/OL1A/Ann", "name": "Ann"}]"#,
    ])
    func keysOfAuthorsAreFound(authors: String) throws {
        let record = try Self.json("{\"title\": \"T\", \"authors\": \(authors)}")
        #expect(Self.library.authors(record) == [.key("/authors/OL1A")])
    }

    @Test(arguments: [
        #""Petra Vance""#, #"["Petra Vance"]"#, #"[{"name": "Petra Vance"}]"#,
        #"{"name": "Petra Vance"}"#, #"[{"author": {"name": " Petra Vance "}}]"#,
    ])
    func namesOfAuthorsAreFound(authors: String) throws {
        let text = "{\"title\": \"T\", \"authors\": \(authors), \"publishers\": \"Tarn Press\"}"
        let record = try #require(Self.library.record(edition: Self.json(text)))
        #expect(record.authors == ["Petra Vance"] && record.publisher == "Tarn Press")
        let volume = try Self.json("{\"volumeInfo\": \(text)}")
        // The other sources have names only.
        #expect(
            GoogleBooks.record(volume: volume)?.authors == ["Petra Vance"]
                || authors.contains("author\":"))
        let book = try Self.json(text)
        #expect(
            ISBNdb.record(book: book)?.authors == ["Petra Vance"] || authors.contains("author\":"))
    }

    /// A lookup returns the authors in each form, from the edition or from its work.
    @Test(arguments: [
        (#", "authors": [{"author": {"key": "/authors/OL34184A"}}]"#, "{}"),
        (#", "authors": ["/authors/OL34184A"]"#, "{}"),
        ("", #"{"authors": [{"author": "/authors/OL34184A"}]}"#),
        ("", #"{"authors": ["/authors/OL34184A"]}"#),
        ("", #"{"authors": [{"key": "/authors/OL34184A"}]}"#),
    ])
    func lookupReturnsAuthors(edition: String, work: String) async throws {
        let fake = try FakeSources(openLibrary: { target in
            switch target {
            case "/isbn/9780140328721.json":
                [.response("{\"title\": \"Fox\", \"works\": \"/works/OL45804W\"\(edition)}")]
            case "/works/OL45804W.json": [.response(work)]
            default: FakeSources.fantasticFox(target)
            }
        })
        let record = try #require(await fake.sources.edition(FakeSources.fox).record)
        #expect(record.authors == ["Roald Dahl"] && record.authorRecords.count == 1)
        #expect(record.workKeys.map(\.key) == ["OL45804W"])
    }

    @Test func otherFieldsMayBeSingleValuesOrObjects() throws {
        let record = try #require(
            Self.library.record(
                edition: Self.json(
                    """
                    {"title": {"value": "T"}, "key": "/books/OL1M", "isbn_13": 9780306406157, "isbn_10": "0306406152",
                     "number_of_pages": "320 p.", "languages": "/languages/eng", "subjects": "Foxes", "covers": 7,
                     "description": {"type": "/type/text", "value": "One."}, "publish_date": 1988,
                     "series": ["Penguin Classics", "Fables ; bk. 2"]}
                    """)))
        #expect(record.title == "T" && record.isbns == ["9780306406157", "0306406152"])
        #expect(record.pageCount == 320 && record.language == "en" && record.genres == ["Foxes"])
        #expect(record.covers.count == 1 && record.description == "One.")
        #expect(record.publishedDate?.text == "1988")
        #expect(record.series == SeriesName(name: "Fables", position: "2"))
    }

    /// If each level were read twice, this test would never end.
    @Test func textsInsideOfManyListsAreRead() throws {
        let lists =
            String(repeating: "[", count: 100) + "\"x\"" + String(repeating: "]", count: 100)
        #expect(try Self.json(lists).anyText == "x")
        let objects =
            String(repeating: "{\"value\":", count: 100) + "\"x\""
            + String(repeating: "}", count: 100)
        #expect(try Self.json(objects).anyText == "x")
    }

    @Test func unreadableFieldsAreLeftOutAndCounted() throws {
        var unreadable: [RecordField] = []
        let volume = try Self.json(
            """
            {"volumeInfo": {"title": "T", "authors": [true, "Ann"], "publisher": {"x": 1}, "description": null,
             "pageCount": "many", "language": "und", "publishedDate": "unknown", "categories": []}}
            """)
        let record = try #require(
            GoogleBooks.record(volume: volume, onUnreadable: { unreadable.append($0) }))
        #expect(record.authors == ["Ann"] && record.publisher == nil && record.language == nil)
        #expect(Set(unreadable) == [.authors, .publisher, .pageCount])
    }

    @Test func gateCountsUnreadableFields() async throws {
        let fake = try FakeSources(openLibrary: { target in
            target.hasPrefix("/isbn/")
                ? [.response(#"{"title": "T", "authors": [1], "publishers": [[]]}"#)] : nil
        })
        _ = await fake.sources.edition(FakeSources.fox)
        let counts = fake.sources.limits.gate(of: .openLibrary).counts
        #expect(counts.unreadableFields[.authors] ?? 0 > 0)
        #expect(counts.unreadableFields[.publisher] == nil)
    }

    // MARK: - Damage

    /// One bad character loses neither the record nor the other fields.
    @Test(
        arguments: [
            (#""A fox \ud83e runs.""#, "A fox \u{FFFD} runs."),
            (#""\udd8a A fox.""#, "\u{FFFD} A fox."),
            (#""\ud83e\udd8a""#, "🦊"), ("NaN", nil), ("-Infinity", nil), ("1e999", nil),
            ("\"A\u{1}\tfox\n\"", "A\u{1}\tfox"), (#""A \x fox\u12""#, "A x foxu12"),
            ("undefined", nil),
        ] as [(String, String?)])
    func damagedValueIsRepaired(value: String, text: String?) throws {
        let json = try Self.json(
            "{\"title\": \"T\", \"description\": \(value), \"authors\": [\"Ann\",]}")
        let record = try #require(Self.library.record(edition: json))
        #expect(record.title == "T" && record.authors == ["Ann"] && record.description == text)
    }

    @Test func bytesOfLatin1AreRepaired() throws {
        let bytes =
            Array(#"{"title": "Caf"#.utf8) + [0xE9] + Array(#" É", "publishers": ["Tarn"]}"#.utf8)
        let record = try #require(JSON(bytes).flatMap { Self.library.record(edition: $0) })
        #expect(record.title == "Café É" && record.publisher == "Tarn")
    }

    private static let values = [
        "null", "true", "1", "-1.5", "1e999", "NaN", "\"\"", "\"x\"", "\"/authors/OL1A\"",
        "\"und\"", "[]", "{}",
        "\"\\ud800\"", "\"2010-02-30\"", "{\"key\": \"/works/OL1W\"}", "{\"value\": \"v\"}",
        "[[\"x\"]]", "\"&#x110000;<b\"",
    ]

    /// With random values in all fields, each record with a title is read.
    @Test(arguments: Array(UInt64(1)...60))
    func randomRecordsAreRead(seed: UInt64) throws {
        var random = SeededGenerator(seed)
        func value() -> String {
            let one = Self.values.randomElement(using: &random) ?? ""
            return switch Int.random(in: 0..<4, using: &random) {
            case 0: "[\(one), \(Self.values.randomElement(using: &random) ?? "")]"
            case 1:
                "{\"name\": \(one), \"key\": \(Self.values.randomElement(using: &random) ?? "")}"
            default: one
            }
        }
        let names = [
            "subtitle", "authors", "isbn_13", "isbn_10", "isbn", "publishers", "publisher",
            "publish_date",
            "number_of_pages", "languages", "language", "subjects", "description", "covers", "key",
            "contributions",
            "contributors", "works", "series", "industryIdentifiers", "imageLinks", "categories",
            "pageCount",
            "publishedDate", "synopsis", "image", "pages", "date_published", "author_name",
            "editions", "cover_i",
            "identifiers", "cover", "bio", "first_publish_year",
        ]
        let text =
            "{\"title\": \"T\", "
            + names.map { "\"\($0)\": \(value())" }.joined(separator: ", ") + "}"
        let json = try Self.json(text)
        let volume = try Self.json("{\"volumeInfo\": \(text)}")
        for record in [
            Self.library.record(edition: json), Self.library.record(data: json),
            Self.library.record(document: json), GoogleBooks.record(volume: volume),
            ISBNdb.record(book: json),
        ] {
            let record = try #require(record)
            #expect(record.title == "T")
            #expect(record.publishedDate?.text != "2010-02-30" && record.language != "und")
            #expect(record.authors.allSatisfy { !$0.isEmpty })
        }
        _ = Self.library.record(author: json, key: "/authors/OL1A")
    }

    /// Random damage to valid JSON never stops the parser.
    @Test(arguments: Array(UInt64(1)...60))
    func randomDamageIsRead(seed: UInt64) throws {
        var random = SeededGenerator(seed)
        var bytes = Array(recorded("isbn-9780140328721.edition").utf8)
        // A damaged byte in a string loses nothing else.
        let text = Array("Fantastic Mr.".utf8)
        let start = try #require(
            bytes.indices.first { bytes[$0...].starts(with: text) })
        bytes[start + 2] = [0xE9, 0xFF, 0x01, 0x09].randomElement(using: &random) ?? 0
        let record = try #require(JSON(bytes).flatMap { Self.library.record(edition: $0) })
        #expect(record.publisher == "Puffin" && !record.isbns.isEmpty)
        for _ in 0..<5 {
            let index = Int.random(in: 0..<bytes.count, using: &random)
            bytes[index] = UInt8.random(in: .min ... .max, using: &random)
        }
        _ = JSON(bytes).map { Self.library.record(edition: $0) }
    }
}
