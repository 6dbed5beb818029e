import GraphQL
import TestBasics
import TestSupport
import Testing
import Zip

@testable import Bookplate

/// A library that is exported and imported by another account is the same library.
@Suite struct ArchiveIdentityTests {
    private static let hostileTitles = [
        "=HYPERLINK(\"http://evil\")", "'; DROP TABLE books; --", "<b>Bold</b> & <i>more</i>",
        "🦊 Fox\u{200D}🌲", "كِتَابُ الأَغَانِي",
        "\"A\" Is for Alibi", "A,B;C\tD", String(repeating: "long ", count: 99) + "title", "$",
        "null", "Dune: Messiah (Dune, #2)", "\\N",
    ]

    /// The lists of `library.json` as text, by their names.
    private func lists(_ archives: [[UInt8]]) throws -> [String: [String]] {
        var lists: [String: [String]] = [:]
        for archive in archives {
            var file: [UInt8] = []
            try ZipReader.read(archive, bytesMax: { _ in 1 << 24 }) { name, bytes in
                if name.hasSuffix("library.json") { file = bytes }
            }
            let json = try parseJSON(file, limits: JSONLimits(bytesMax: 1 << 24))
            for name in ["shelves", "books", "progressEntries", "notes", "swipes"] {
                for item in json[name]?.list ?? [] {
                    guard case .object(let members) = item else { continue }
                    // The account has the book since the import.
                    let kept = members.filter { name != "books" || $0.name != "updatedAt" }
                    lists[name, default: []].append("\(Value.object(kept))")
                }
            }
        }
        return lists.mapValues { Set($0).sorted() }
    }

    /// Fills a library with twins, books read twice, several editions of a work, and books without anything.
    private func fill(_ reader: TestReader, _ random: inout SeededGenerator) async throws {
        let cards = try await reader.feedCards(12)
        for (card, scope) in zip(cards.suffix(3), ["BOOK", "AUTHOR", "SERIES"]) {
            _ = try await reader.execute(
                "mutation($inputs: [SwipeInput!]!) { recordSwipes(inputs: $inputs) { recorded } }",
                [
                    "inputs": [
                        [
                            "cardId": card["id"] ?? .null, "action": "DISLIKE",
                            "scope": .string(scope),
                        ]
                    ]
                ])
        }
        var shelves: [Value] = []
        for name in ["One", "=Two", "三"] { shelves.append(try await reader.makeShelf(name)) }
        for number in 0..<24 {
            var input: [String: Value] = [
                "status": .string(
                    ["WANT_TO_READ", "READING", "READ", "PAUSED", "DID_NOT_FINISH"]
                        .randomElement(using: &random) ?? "READ"),
                "shelfIds": .list(shelves.filter { _ in Bool.random(using: &random) }),
            ]
            let card = cards[Int.random(in: 0..<cards.count, using: &random)]
            switch Int.random(in: 0..<5, using: &random) {
            case 0: input["cardId"] = card["id"] ?? .null
            case 1:
                // Twins: the same title and author, without an ISBN. The first one gets the card.
                input["title"] = card["title"] ?? "Twin"
                input["authors"] = [["name": card["authors", 0, "name"] ?? "A"]]
                if Bool.random(using: &random) { input["description"] = "My own words." }
            case 2:
                input["title"] = card["title"] ?? "Other"
                input["isbn"] = .string(TestCatalog.isbn(800_000 + number))
            default:
                input["title"] = .string(
                    Self.hostileTitles.randomElement(using: &random) ?? "Title")
                input["subtitle"] = Bool.random(using: &random) ? "A <sub>title</sub>" : .null
                input["authors"] = [["name": "Same Author"]]
                input["publisher"] = Bool.random(using: &random) ? "Tarn Press" : .null
                input["series"] =
                    Bool.random(using: &random) ? [["name": "S", "position": "½"]] : .null
            }
            let created = try await reader.execute(
                "mutation($input: CreateBookInput!) { createBook(input: $input) { id status } }",
                ["input": .object(input.map { Value.Member($0.key, $0.value) })])
            // Another book of the library may be the same edition.
            guard let book = created["createBook", "id"] else { continue }
            if created["createBook", "status"] == "READ", Bool.random(using: &random) {
                try await reader.review(
                    book, rating: Int.random(in: 1...5, using: &random), text: "\"Text\"\n\(number)"
                )
            }
            if Bool.random(using: &random) {
                for year in ["2019", "2021-05"] {
                    _ = try await reader.execute(
                        ReadTests.start,
                        [
                            "id": book,
                            "input": [
                                "startedOn": .string(year),
                                "finishedOn": "2022-01-0\(1 + number % 9)",
                            ],
                        ])
                }
            }
            if Bool.random(using: &random) {
                _ = try await reader.execute(
                    NoteTests.createMany,
                    ["inputs": [["bookId": book, "text": "Note \(number)", "percent": 12.5]]])
            }
        }
    }

    @Test(arguments: [1, 2, 3])
    func movingAnAccountKeepsEveryBook(seed: UInt64) async throws {
        var random = SeededGenerator(seed)
        let app = try await TestApp.start(catalog: TestCatalog.lines(40))
        let files = ImportRoundTripTests()
        let first = try await app.makeReader()
        try await fill(first, &random)
        let original = try await files.exported(first)
        let expected = try lists(original)
        #expect(expected["books"]?.count ?? 0 >= 10)
        var archives = original
        for _ in 0..<2 {
            let reader = try await app.makeReader()
            for _ in 0..<2 {
                for archive in archives {
                    let result = try await files.imported(reader, archive)
                    #expect(result["state"] == "DONE" && result["failed"] == [], "\(result)")
                }
            }
            archives = try await files.exported(reader)
            let found = try lists(archives)
            for (name, items) in expected {
                #expect(found[name] == items, "\(name)")
            }
        }
    }

    /// Records without an id, of other programs that write this format, are still matched by title and author.
    @Test func recordsWithoutIDsFindTheirBookByTitle() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        _ = try await reader.makeBook(["title": "Title", "authors": [["name": "Ann Author"]]])
        let file = """
            {"format":"bookplate library","version":1,"books":[
            {"title":"title","authors":[{"name":"Ann Author"}],"status":"READ"},
            {"id":"0198c0de-0000-7000-8000-0000000000b1","title":"Title","authors":[{"name":"Ann Author"}],"status":"READ"}]}
            """
        let result = try await ImportRoundTripTests().imported(reader, Array(file.utf8))
        #expect(result["created"] == 1 && result["updated"] == 1, "\(result)")
    }

    /// The table for other applications has the ids, too.
    @Test func twinsOfTheTableStayTwoBooks() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        let file = """
            Book Id,Title,Author,ISBN13,My Rating,Exclusive Shelf
            0198c0de-0000-7000-8000-0000000000b1,Twin,Ann Author,,4,read
            0198c0de-0000-7000-8000-0000000000b2,Twin,Ann Author,,2,read
            """
        for created in [2, 0] as [Value] {
            let result = try await ImportRoundTripTests().imported(reader, Array(file.utf8))
            #expect(result["created"] == created && result["failed"] == [], "\(result)")
        }
        #expect(try await app.database.count("SELECT count(*) FROM reads") == 2)
    }

    /// A book has one review, which may be a rating or a text only.
    @Test(arguments: [
        (
            "4,", "4,Second words", "review",
            "“Second words” was left out, because the book in the library has a rating without a text. Edit the review to add it."
        ),
        (
            "0,First words", "2,First words", "rating",
            "“2” was left out, because the book in the library has a review without a rating. Edit the review to add it."
        ),
    ])
    func thePartThatTheReviewOfTheLibraryLacksIsNamed(
        first: String, second: String, field: String, message: String
    ) async throws {
        let reader = try await TestApp.start(catalog: []).makeReader()
        let file = """
            Book Id,Title,Author,Exclusive Shelf,My Rating,My Review
            ,Title,Ann Author,read,\(first)
            ,Title,Ann Author,read,\(second)
            """
        let result = try await ImportRoundTripTests().imported(reader, Array(file.utf8))
        let failed = result["failed"]?.list ?? []
        #expect(failed.map { $0["field"] } == [.string(field)], "\(failed)")
        #expect(failed.first?["message"] == .string(message))
    }

    @Test func secondRowOfATitleLosesNothingSilently() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        let file = """
            Book Id,Title,Author,ISBN13,My Rating,Publisher,Binding,Date Read,Exclusive Shelf,My Review,Private Notes
            ,Title,Ann Author,,4,Tarn Press,Hardcover,2019/05/01,read,First words,One
            ,Title,Ann Author,,2,Other Press,Paperback,2021/06/02,read,Second words,Two
            ,Title,Ann Author,,4,,,,read,First words,
            ,Other,Ann Author,9780306406158,0,,,,read,,
            """
        for isAgain in [false, true] {
            let result = try await ImportRoundTripTests().imported(reader, Array(file.utf8))
            #expect(result["created"] == (isAgain ? 0 : 2), "\(result)")
            let failed = result["failed"]?.list ?? []
            #expect(
                failed.map { "\($0["line"]?.int ?? 0) \($0["field"]?.string ?? "")" } == [
                    "3 publisher", "3 binding", "3 privateNotes", "3 rating", "3 review",
                    "5 ISBN13",
                ], "\(failed)")
            #expect(
                failed.dropFirst(3).first?["message"]
                    == "“2” was left out, because the book in the library has “4”.")
        }
        let book = try await reader.requireValue(
            "{ me { books(search: \"title\") { nodes { review { rating text } reads(first: 9) { nodes { finishedOn } } } } } }",
            .null, "me", "books", "nodes", 0)
        #expect(book["review"] == ["rating": 4, "text": "First words"])
        // The second row is a reading of its own.
        #expect(
            book["reads", "nodes"]?.values(of: "finishedOn").compactMap(\.string).sorted().suffix(2)
                == ["2019-05-01", "2021-06-02"])
    }

    @Test(arguments: ["America/Los_Angeles", "Pacific/Auckland", "UTC", "Pacific/Kiritimati"])
    func dayOfAFileIsTheReadersDay(zone: String) async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader()
        try await app.database.execute(
            "UPDATE users SET time_zone = '\(zone)' WHERE id = '\(reader.id.string ?? "")'")
        let file = """
            Book Id,Title,Author,ISBN13,My Rating,Date Added,Exclusive Shelf
            ,Title,Ann  Author,,4,2021/02/01,to-read
            """
        _ = try await ImportRoundTripTests().imported(reader, Array(file.utf8))
        #expect(
            try await app.database.text(
                "SELECT (added_at AT TIME ZONE '\(zone)')::date || ' ' || authors[1] FROM books")
                == "2021-02-01 Ann Author")
        var table = ""
        let url = try await reader.requireValue(
            "mutation { exportLibrary { url } }", .null, "exportLibrary", "url")
        let token = url.string?.split(separator: "/").last?.dropLast(4) ?? ""
        let (pool, services) = (app.pool, app.services)
        let archive = try await Task(executorPreference: pool.executor) {
            try await ExportEndpoint(database: pool, services: services)
                .open(token: token, requestID: "test").bytes()
        }.value
        try ZipReader.read(archive, bytesMax: { _ in 1 << 24 }) { name, bytes in
            if name.hasSuffix(".csv") { table += String(decoding: bytes, as: UTF8.self) }
        }
        #expect(table.contains("2021/02/01"), "\(table)")
    }
}
