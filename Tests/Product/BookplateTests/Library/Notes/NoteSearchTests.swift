import GraphQL
import TestBasics
import TestSupport
import Testing

@testable import Bookplate

/// `User.notes(search:)`.
@Suite struct NoteSearchTests {
    static let app = Shared { try await TestApp.start(catalog: [record]) }

    /// The words of the catalog correct misspelled searches.
    private static let record =
        #"{"isbn13": "9780441172719", "title": "Desolation", "authors": ["Frank Herbert"]}"#

    private static let search = """
        query($search: String!, $first: Int, $after: String, $color: LabelColor, $order: NoteOrder) {
          me { notes(search: $search, first: $first, after: $after, color: $color, orderBy: $order) {
            totalCount nodes { text } pageInfo { hasNextPage endCursor } } }
        }
        """

    private static func texts(_ reader: TestReader, _ search: String) async throws -> [String] {
        let nodes = try await reader.requireValue(
            Self.search, ["search": .string(search), "first": 100], "me", "notes", "nodes")
        return (nodes.list ?? []).compactMap { $0["text"]?.string }
    }

    private static func create(_ reader: TestReader, _ notes: [Value]) async throws {
        let response = try await reader.execute(NoteTests.createMany, ["inputs": .list(notes)])
        #expect(response["createNotes"]?.list?.allSatisfy { !($0["note"]?.isNull ?? true) } == true)
    }

    @Test func wordsAreFoundInAllTextsOfANote() async throws {
        let reader = try await Self.app().makeReader()
        let dune = try await reader.makeBook([
            "title": "Dune", "authors": [["name": "Frank Herbert"]],
            "series": [["name": "Arrakis Chronicles", "position": "1"]],
        ])
        let other = try await reader.makeBook("Été")
        try await Self.create(
            reader,
            [
                ["bookId": dune, "text": "Fear is the mind-killer."],
                [
                    "bookId": dune, "text": "B", "comment": "Tränen über Köln",
                    "chapter": "Épilogue",
                ],
                ["bookId": other, "text": "C’est l’ÉTÉ. 猫が好き"],
            ])
        for (search, expected) in [
            ("fear", ["Fear is the mind-killer."]), ("MIND kill", ["Fear is the mind-killer."]),
            ("killer fear the", ["Fear is the mind-killer."]), ("ear", []),
            ("koln", ["B"]), ("TRÄNEN", ["B"]), ("epilogue koln", ["B"]),
            ("dune fea", ["Fear is the mind-killer."]), ("dune ete", []),
            ("dune", ["B", "Fear is the mind-killer."]),
            ("herb arrak", ["B", "Fear is the mind-killer."]), ("herbert koeln", []),
            ("ete", ["C’est l’ÉTÉ. 猫が好き"]), ("猫", ["C’est l’ÉTÉ. 猫が好き"]),
            ("’", ["C’est l’ÉTÉ. 猫が好き"]), ("%", []), ("x' | 'y", []), ("' & !", []), ("\\", []),
        ] {
            #expect(try await Self.texts(reader, search) == expected, "\(search)")
        }
        for search in ["", "  ", String(repeating: "x", count: 201)] {
            let invalid = try await reader.execute(Self.search, ["search": .string(search)])
            #expect(invalid.code == "BAD_USER_INPUT" && invalid.field == "search")
        }
        // Letters that become many when they are folded.
        #expect(try await Self.texts(reader, String(repeating: "ﷺ", count: 200)) == [])
    }

    /// A misspelled word matches only if no note has the words as typed.
    @Test func misspelledWordsAreFound() async throws {
        let app = try await Self.app()
        try await app.database.execute("SELECT refresh_search_words()")
        let reader = try await app.makeReader()
        let book = try await reader.makeBook("Middlemarch")
        try await Self.create(
            reader,
            [
                ["bookId": book, "text": "In the desolation of the night"],
                ["bookId": book, "text": "desolatoin is a word, too"],
            ])
        #expect(
            try await Self.texts(reader, "desolaton night") == ["In the desolation of the night"])
        #expect(try await Self.texts(reader, "midlemarch").count == 2)
        #expect(try await Self.texts(reader, "desolatoin") == ["desolatoin is a word, too"])
        #expect(try await Self.texts(reader, "nihgt zzzz") == [])
    }

    @Test func otherReadersNotesAreNeverFound() async throws {
        let app = try await Self.app()
        let (reader, other) = (try await app.makeReader(), try await app.makeReader())
        for owner in [reader, other] {
            let book = try await owner.makeBook("Shared title")
            try await Self.create(
                owner, [["bookId": book, "text": "Shared words of \(owner.subject)"]])
        }
        for search in ["shared", "shared words", "title", "sharde wrods", "o"] {
            #expect(try await Self.texts(reader, search).allSatisfy { $0.contains(reader.subject) })
        }
        #expect(
            try await Self.texts(reader, "shared title") == ["Shared words of \(reader.subject)"])
        // The function finds nothing without a user.
        let found = try await app.database.withConnection {
            try $0.texts("SELECT id::text FROM search_notes('shared', NULL)")
        }
        #expect(found == [])
    }

    @Test func pagesOfASearchAreInOrder() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Title")
        try await Self.create(
            reader,
            (0..<9).map { number in
                [
                    "bookId": book, "text": .string("Word \(number)"),
                    "color": number % 3 == 0 ? "RED" : .null,
                ]
            })
        for (order, color) in [
            ("CREATED_DESC", .null), ("CREATED_ASC", .null), ("CREATED_ASC", "RED"),
        ] as [(Value, Value)] {
            var texts: [String] = []
            var cursor = Value.null
            for _ in 0..<5 where !cursor.isNull || texts.isEmpty {
                let page = try await reader.requireValue(
                    Self.search,
                    [
                        "search": "wo", "first": 2, "after": cursor, "color": color,
                        "order": order,
                    ], "me", "notes")
                #expect(page["totalCount"] == (color.isNull ? 9 : 3))
                texts += (page["nodes"]?.list ?? []).compactMap { $0["text"]?.string }
                cursor =
                    page["pageInfo", "hasNextPage"] == true
                    ? page["pageInfo", "endCursor"] ?? .null : .null
            }
            let numbers = color.isNull ? Array(0..<9) : [0, 3, 6]
            let expected = numbers.map { "Word \($0)" }
            #expect(texts == (order == "CREATED_DESC" ? expected.reversed() : expected))
        }
    }

    @Test func changedAndDeletedNotesAreFoundAsTheyAre() async throws {
        let reader = try await Self.app().makeReader()
        let book = try await reader.makeBook("Title")
        let id = try await reader.requireValue(
            NoteTests.create, ["input": ["bookId": book, "text": "Before"]], "createNote", "id")
        _ = try await reader.execute(
            NoteTests.update, ["id": id, "input": ["text": "After"]])
        #expect(try await Self.texts(reader, "befor") == [])
        #expect(try await Self.texts(reader, "afte") == ["After"])
        _ = try await reader.execute(
            UpdateBookTests.update, ["id": book, "input": ["title": "Renamed"]])
        #expect(try await Self.texts(reader, "renamed") == ["After"])
        #expect(try await Self.texts(reader, "title") == [])
        _ = try await reader.execute(RestoreBookTests.delete, ["id": book])
        #expect(try await Self.texts(reader, "after") == [])
        _ = try await reader.execute(RestoreBookTests.restore, ["id": book])
        #expect(try await Self.texts(reader, "after") == ["After"])
    }

    // MARK: - Comparison with a filter

    /// Words as written, and folded.
    private static let words = [
        ("Angst", "angst"), ("ángulo", "angulo"), ("the", "the"), ("théâtre", "theatre"),
        ("Straße", "strasse"), ("l’été", "lete"), ("naïve", "naive"), ("NATION", "nation"),
        ("œuvre", "oeuvre"), ("Žena", "zena"), ("7", "7"), ("1984", "1984"),
    ]

    /// A note, with its words as the search sees them.
    private struct Model {
        let text: String
        let folded: [String]
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func searchFindsWhatAFilterFinds(seed: UInt64) async throws {
        var random = SeededGenerator(seed)
        let reader = try await Self.app().makeReader()
        // Titles of three letters are not similar to any other word, and begin with other letters.
        let titles = ["Qix", "Ýew"]
        var books: [Value] = []
        for title in titles { books.append(try await reader.makeBook(title)) }
        var models: [Model] = []
        var inputs: [Value] = []
        for number in 0..<40 {
            let book = Int.random(in: 0..<2, using: &random)
            let chosen = (0..<Int.random(in: 1...5, using: &random)).map { _ in
                Self.words[Int.random(in: 0..<Self.words.count, using: &random)]
            }
            let text =
                "n\(number) " + chosen.map(\.0).joined(separator: [", ", " — ", "\n"][number % 3])
            models.append(
                Model(text: text, folded: ["n\(number)", ["qix", "yew"][book]] + chosen.map(\.1)))
            inputs.append(["bookId": books[book], "text": .string(text)])
        }
        try await Self.create(reader, inputs)
        for _ in 0..<30 {
            let terms = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                let (written, folded) = Self.words[
                    Int.random(in: 0..<Self.words.count, using: &random)]
                switch Int.random(in: 0..<4, using: &random) {
                case 0: return (written.uppercased(), folded)
                case 1:
                    return (["Qix", "ýew"][folded.count % 2], ["qix", "yew"][folded.count % 2])
                default:
                    let prefix = String(
                        folded.prefix(Int.random(in: 1...folded.count, using: &random)))
                    return (prefix, prefix)
                }
            }
            let search = terms.map(\.0).joined(separator: " ")
            let expected = models.filter { model in
                terms.allSatisfy { term in model.folded.contains { $0.hasPrefix(term.1) } }
            }
            let found = try await Self.texts(reader, search)
            #expect(found == expected.reversed().map(\.text), "seed \(seed): \(search)")
        }
    }
}
