import TestBasics
import TestSupport
import Testing

@testable import Bookplate
@testable import Operations

/// The forms in which catalog files write the fields of a record.
@Suite struct CatalogShapeTests {
    private func record(_ line: String) throws -> CatalogRecord {
        let entry = try #require(CatalogFile.entry(Array(line.utf8)[...], number: 1))
        return try entry.record.get()
    }

    private func records(_ table: String) throws -> [Result<CatalogRecord, CatalogRecord.Problem>] {
        try CatalogFile(Array(table.utf8)).entries.map(\.record)
    }

    /// The authors of works and editions at Open Library, in a list or alone.
    @Test(
        arguments: [
            (#"["/authors/OL1A"]"#, []), (#"[{"author": {"key": "/authors/OL1A"}}, "Bo"]"#, ["Bo"]),
            (#"[{"author": {"name": "Bo"}}]"#, ["Bo"]), (#"{"name": "Bo"}"#, ["Bo"]),
            (#"[{"key": "/authors/OL1A", "name": "Bo"}]"#, ["Bo"]), (#""Bo""#, ["Bo"]),
            (
                #"["Vonnegut, Kurt, Jr.", "Davis, Arthur, III"]"#,
                ["Kurt Vonnegut, Jr.", "Arthur Davis III"]
            ),
            (#""King, Martin Luther, Jr.""#, ["Martin Luther King, Jr."]),
            (#"[{"name": "Ross, Tony", "role": "illustrator"}]"#, ["Tony Ross"]),
            (#"[true, "Bo"]"#, ["Bo"]),
        ] as [(String, [String])])
    func authorsAreFound(authors: String, names: [String]) throws {
        let record = try record("{\"title\": \"T\", \"authors\": \(authors)}")
        #expect(record.authors.map(\.name) == names)
        let isReported = authors.contains("OL1A\"]") || authors.contains("OL1A\"}}")
        #expect(record.problems.isEmpty != (isReported || authors.contains("true")))
        if isReported {
            #expect(
                record.problems.map(\.message)
                    == ["An author has a key, but no name. It was left out (column 27)"])
        }
    }

    @Test(
        arguments: [
            (
                #""King, Martin Luther, Jr.""#, ["Martin Luther King, Jr."]
            ),
            (
                #""Vonnegut, Kurt, Jr.; Davis, Arthur, III""#,
                ["Kurt Vonnegut, Jr.", "Arthur Davis III"]
            ),
            (#""['Ross, Tony (Illustrator)']""#, ["Tony Ross"]),
            (#""Coelho, Paulo""#, ["Paulo Coelho"]),
            (#""Le Guin, Ursula K.""#, ["Ursula K. Le Guin"]),
            (#""J.K. Rowling, Mary GrandPré (Illustrator)""#, ["J.K. Rowling", "Mary GrandPré"]),
            (#""Homer, Robert Fagles""#, ["Homer", "Robert Fagles"]),
            (#""Alejandro Jodorowsky, Mœbius""#, ["Alejandro Jodorowsky", "Mœbius"]),
            (#""Jos&eacute; Saramago""#, ["José Saramago"]),
        ])
    func namesOfTablesAreRead(cell: String, names: [String]) throws {
        for column in ["authors", "author"] {
            let record = try #require(try records("title,\(column)\nT,\(cell)\n").first).get()
            #expect(record.authors.map(\.name) == names && record.problems.isEmpty)
        }
    }

    /// A year before the common era has no form that can be stored.
    @Test(arguments: [
        (#""publishedDate":"n.d.","published_year":1999"#, "1999"),
        (#""published_year":-1750"#, nil), (#""published_year":"2004""#, "2004"),
    ])
    func yearsAreRead(members: String, date: String?) throws {
        let record = try CatalogRecord(line: Array(#"{"title":"T",\#(members)}"#.utf8))
        #expect(record.publishedDate?.text == date)
    }

    /// One field of another form does not lose the record.
    @Test func otherFieldsMayBeSingleValuesListsOrObjects() throws {
        let record = try record(
            """
            {"title": 1984, "isbn13": 9780306406157, "description": {"type": "/type/text", "value": "One."},
             "publisher": ["Tarn Press"], "series": ["Penguin Classics", "Fables ; bk. 2"], "language": ["eng", "fre"],
             "genres": {"name": "Foxes"}, "pageCount": "320 p.", "averageRating": "4.5", "ratingsCount": "7",
             "works": "/works/OL1W", "ids": {"goodreads": 5}}
            """.replacing("\n", with: " "))
        #expect(record.title == "1984" && record.isbn?.description == "9780306406157")
        #expect(record.description == "One." && record.publisher == "Tarn Press")
        #expect(record.series == "Fables" && record.seriesPosition == "2")
        #expect(record.language == "en" && record.subjects == ["Foxes"])
        #expect(record.pageCount == 320 && record.averageRating == 4.5 && record.ratingsCount == 7)
        #expect(record.workKeys.map(\.key) == ["OL1W"] && record.sources.map(\.key) == ["5"])
        #expect(record.problems.isEmpty)
    }

    @Test(
        arguments: [
            (#""publisher": {"x": 1}"#, "publisher cannot be read. It was left out (column 29)"),
            (#""pageCount": "many""#, "pageCount cannot be read. It was left out (column 29)"),
            (#""averageRating": 7.5"#, "averageRating cannot be read. It was left out (column 33)"),
            (
                #""ids": {"My Shop": "1"}"#,
                "“My Shop” is not the name of a source, such as open_library. It was left out (column 23)"
            ),
            (
                #""ids": {"a": [[]], "b": true}"#,
                "An id of ids is not text. It was left out (column 23)"
            ),
            (
                #""subtitle": "\#(String(repeating: "x", count: 501))""#,
                "Subtitle may have at most 500 characters. It was left out (column 28)"
            ),
        ])
    func unreadableFieldsAreLeftOutAndReported(member: String, problem: String) throws {
        let record = try record(#"{"title": "T", \#(member), "authors": "Bo"}"#)
        #expect(record.title == "T" && record.authors.map(\.name) == ["Bo"])
        #expect(record.problems.map(\.message) == [problem])
    }

    /// Ids that cannot be stored would otherwise end the import of the whole file.
    @Test func problemsOfFieldsAreReportedByTheImport() async throws {
        let database = try await TestCluster.shared.makeDatabase()
        let (summary, problems) = try await database.importCatalog([
            #"{"title":"T","ids":{"My\u0000Shop":"1","b":"\#(String(repeating: "x", count: 201))"}}"#,
            #"{"title":"U","publisher":true}"#,
        ])
        #expect(summary == .init(created: 2, updated: 0, unchanged: 0, failed: 0, leftOut: 3))
        #expect(problems.keys.sorted() == [1, 2])
    }

    /// Spreadsheets remove the zeros of ISBNs, but not those of other numbers.
    @Test(
        arguments: [
            ("96385074", ISBN.Problem.ean8.message), ("036000291452", ISBN.Problem.upc.message),
            ("9780306406158", ISBN.Problem.checkDigit.message), ("306406152", nil),
            ("6406157", nil),
        ] as [(String, String?)])
    func numbersThatAreNoISBNsAreReported(number: String, message: String?) throws {
        let result = try #require(try records("isbn13,title\n\(number),T\n").first)
        switch result {
        case .success: #expect(message == nil)
        case .failure(let problem):
            let reason = try #require(message)
            #expect(problem.message == "ISBN \(number): \(reason.dropLast()) (column 1)")
        }
    }

    // MARK: - Random input

    private static let values = [
        "null", "true", "1", "-1.5", "1e999", "NaN", "\"\"", "\"x\"", "\"/authors/OL1A\"",
        "\"und\"", "[]", "{}", "\"\\ud800\"",
        "\"2010-02-30\"", "{\"key\": \"/works/OL1W\"}", "{\"value\": \"v\"}", "[[\"x\"]]",
        "\"&#x110000;<b\"", "\"a, b, Jr.\"", "\"\\u0000\"",
        "9999999999999999999999", "{\"a\\u0000\": \"b\"}", "\"#1; (\"",
    ]

    /// With random values in all fields but the title, each line is read. A field of a good form is kept.
    @Test(arguments: Array(UInt64(1)...60))
    func randomLinesAreRead(seed: UInt64) throws {
        var random = SeededGenerator(seed)
        func value() -> String {
            let one = Self.values.randomElement(using: &random) ?? ""
            let other = Self.values.randomElement(using: &random) ?? ""
            return switch Int.random(in: 0..<4, using: &random) {
            case 0: "[\(one), \(other)]"
            case 1: "{\"name\": \(one), \"key\": \(other), \"role\": \(other), \"bio\": \(one)}"
            default: one
            }
        }
        let names = [
            "subtitle", "series", "seriesPosition", "series_position", "authors", "author",
            "publishedDate", "published_year", "language",
            "pageCount", "page_count", "genres", "description", "hook", "averageRating",
            "ratingsCount", "ids", "workIds", "works",
            "goodreads_book_id", "goodreads_work_id",
        ]
        for kept in names.indices {
            var members = names.map { "\"\($0)\": \(value())" }
            members[kept] = "\"publisher\": {\"name\": \"Tarn Press\"}"
            let record = try record("{\"title\": \"T\", \(members.joined(separator: ", "))}")
            #expect(record.title == "T" && record.publisher == "Tarn Press")
            #expect(record.authors.allSatisfy { !$0.name.isEmpty && !$0.name.hasPrefix("/") })
            #expect(record.language != "und" && record.publishedDate?.text != "2010-02-30")
            #expect((record.sources + record.workKeys).allSatisfy { !$0.key.contains("\0") })
            #expect((record.sources + record.workKeys).allSatisfy { !$0.source.contains("\0") })
        }
    }

    /// Random damage to a line loses at most the line.
    @Test(arguments: Array(UInt64(1)...60))
    func randomDamageIsReadOrReported(seed: UInt64) throws {
        var random = SeededGenerator(seed)
        var bytes = Array(TestCatalog.line(1, genres: ["Fantasy"]).utf8)
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let index = Int.random(in: 0..<bytes.count, using: &random)
            bytes[index] = UInt8.random(in: .min ... .max, using: &random)
        }
        let other = Array(TestCatalog.line(2, genres: []).utf8)
        let file = try CatalogFile(other + Array("\n".utf8) + bytes + Array("\n".utf8) + other)
        let entries = Array(file.entries)
        #expect(entries.first?.line == 1 && entries.last.map { $0.line >= 2 } == true)
        for entry in [entries.first, entries.last] {
            #expect(try entry?.record.get().title == "Card 2")
        }
        for entry in entries {
            if case .failure(let problem) = entry.record { #expect(!problem.message.isEmpty) }
        }
    }

    /// With random cells in all columns but the title, each row is read, unless it has only wrong ISBNs.
    @Test(arguments: Array(UInt64(1)...60))
    func randomTablesAreRead(seed: UInt64) throws {
        var random = SeededGenerator(seed)
        let pieces = [
            "1", "2021-02-30", "x", "\u{0}", "é", " ", ", ", ";", "Jr.", "['a', ", "'b", "]", "4.5",
            "999999999999999999999", "Q5",
            "96385074", "9780306406157", "<b>", "&#x1F600;", "\"\"", "\n", "nan", "#1", "eng", "-",
        ]
        let names = [
            "title", "subtitle", "series", "series_position", "authors", "author", "isbn13", "isbn",
            "publisher", "published_date", "language",
            "num_pages", "genres", "description", "average_rating", "ratings_count",
            "goodreads_book_id", "id", "work_key",
        ]
        let rows = (0..<20).map { _ in
            names.map { name in
                if name == "title" { return "T" }
                let cell = (0..<Int.random(in: 0..<5, using: &random)).map { _ in
                    pieces.randomElement(using: &random) ?? ""
                }
                return "\"\(cell.joined())\""
            }.joined(separator: ",")
        }
        let results = try records(([names.joined(separator: ",")] + rows).joined(separator: "\n"))
        #expect(results.count == 20)
        for result in results {
            switch result {
            case .success(let record):
                #expect(record.title == "T" && record.authors.allSatisfy { !$0.name.isEmpty })
            case .failure(let problem): #expect(problem.message.hasPrefix("ISBN "))
            }
        }
    }
}
