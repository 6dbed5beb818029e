import GraphQL
import Postgres
import TestBasics
import TestSupport
import Testing

/// Searches in scripts with vowel signs, without spaces between words, and without letters.
@Suite struct SearchScriptTests {
    /// Each line is a title and its author.
    private static let books = [
        ("كِتَابُ الأَغَانِي", "أبو الفرج الأصفهاني"),
        ("١٩٨٤", "جورج أورويل"),
        ("می\u{200C}خواهم زنده بمانم", "فریدون"),
        ("בְּרֵאשִׁית", "חיים"),
        ("राम की शक्ति पूजा", "निराला"),
        ("मारो मत", "कोई"),
        ("क़िस्सा", "कोई"),
        ("สี่แผ่นดิน", "คึกฤทธิ์ ปราโมช"),
        ("대한민국사", "한홍구"),
        ("채식주의자", "한강"),
        ("東京喰種 トーキョーグール", "石田スイ"),
        ("夏の庭", "湯本香樹実"),
        ("坊っちゃん", "夏目漱石"),
        ("三体", "刘慈欣"),
        ("Вій", "Микола Гоголь"),
        ("Ο ΞΕΝΟΣ", "Αλμπέρ Καμύ"),
        ("$", "Mark Fisher"), ("?", "Ana Berg"), ("♥", "Cleo Dahl"), ("@", "Eva Fink"),
    ]

    private static let app = Shared {
        try await TestApp.start(
            catalog: books.map { title, author in
                #"{"title":"\#(title)","authors":["\#(author)"],"ratingsCount":10}"#
            })
    }

    /// Titles that a query finds, and that it must not find.
    static let queries: [(query: String, first: String, missing: String)] = [
        ("كتاب الأغاني", "كِتَابُ الأَغَانِي", ""), ("كتاب الاغاني", "كِتَابُ الأَغَانِي", ""),
        ("الأغانى", "كِتَابُ الأَغَانِي", ""), ("1984", "١٩٨٤", ""),
        ("میخواهم زنده", "می\u{200C}خواهم زنده بمانم", ""),
        ("בראשית", "בְּרֵאשִׁית", ""),
        ("राम", "राम की शक्ति पूजा", "मारो मत"), ("शक्ति", "राम की शक्ति पूजा", ""),
        ("क़िस्सा", "क़िस्सा", ""), ("किस्सा", "क़िस्सा", ""),
        ("สี่แผ่นดิน", "สี่แผ่นดิน", ""), ("สี่แผ่", "สี่แผ่นดิน", ""),
        ("민국", "대한민국사", "채식주의자"), ("대한 민국", "대한민국사", ""), ("주의", "채식주의자", ""),
        ("한강", "채식주의자", "대한민국사"), ("사", "대한민국사", ""), ("채", "채식주의자", ""),
        ("夏目漱石", "坊っちゃん", "東京喰種 トーキョーグール"), ("漱石", "坊っちゃん", "夏の庭"),
        ("夏目漱石", "坊っちゃん", "夏の庭"), ("夏目漱石 坊っちゃん", "坊っちゃん", ""),
        ("坊っちゃん 夏目", "坊っちゃん", ""), ("グール", "東京喰種 トーキョーグール", ""),
        ("三体 刘慈欣", "三体", ""), ("刘慈", "三体", ""),
        ("вій", "Вій", ""), ("ξένος", "Ο ΞΕΝΟΣ", ""),
        ("$", "$", "?"), ("?", "?", "@"), ("♥", "♥", ""), (" @ ", "@", ""),
    ]

    @Test(arguments: queries)
    func findsTitles(query: String, first: String, missing: String) async throws {
        let nodes = try await Self.app().makeReader().requireValue(
            SearchTests.search, ["query": .string(query), "first": 20], "search", "nodes")
        let titles = nodes.values(of: "title").compactMap(\.string)
        #expect(titles.first == first)
        #expect(!titles.contains(missing), "\(titles)")
    }

    /// The library finds the same books, and the notes of them.
    @Test(arguments: queries)
    func findsBooksAndNotesOfTheLibrary(
        query: String, first: String, missing: String
    ) async throws {
        let reader = try await Self.reader()
        let response = try await reader.execute(
            """
            query($search: String!) {
              me {
                books(search: $search, orderBy: RELEVANCE) { nodes { title } }
                notes(search: $search) { nodes { text } }
              }
            }
            """, ["search": .string(query)])
        #expect(response.errors.isEmpty, "\(response.json)")
        let titles = response["me", "books", "nodes"]?.values(of: "title").compactMap(\.string)
        #expect(titles?.first == first, "\(response.json)")
        #expect(titles?.contains(missing) == false)
        let notes = response["me", "notes", "nodes"]?.values(of: "text").compactMap(\.string) ?? []
        #expect(notes.contains { $0.hasPrefix("\(first):") }, "\(response.json)")
        #expect(!notes.contains { $0.hasPrefix("\(missing):") })
    }

    /// Has all of the books, and a note with the title and the author in each.
    private static let reader = Shared {
        let reader = try await app().makeReader()
        for (title, author) in books {
            let book = try await reader.makeBook([
                "title": .string(title), "authors": [["name": .string(author)]],
            ])
            _ = try await reader.requireValue(
                "mutation($input: CreateNoteInput!) { createNote(input: $input) { id } }",
                ["input": ["bookId": book, "text": .string("\(title): \(author)")]], "createNote",
                "id")
        }
        return reader
    }

    /// An emoji may have a variation selector.
    @Test func variationSelectorsDoNotMatter() async throws {
        let nodes = try await Self.app().makeReader().requireValue(
            SearchTests.search, ["query": "♥\u{FE0F}"], "search", "nodes")
        #expect(nodes.values(of: "title") == ["♥"])
    }

    /// A searched name of four characters is not found by one of its pairs.
    @Test func onePairOfANameIsNotEnough() async throws {
        let nodes = try await Self.app().makeReader().requireValue(
            SearchTests.search, ["query": "夏目友人帳", "first": 20], "search", "nodes")
        #expect(nodes.values(of: "title") == [])
    }

    // MARK: - Properties

    /// Texts of random characters of all scripts, with their marks and signs.
    private static func texts(_ count: Int) -> [String] {
        var random = SeededGenerator(43)
        let ranges: [ClosedRange<UInt32>] = [
            0x20...0x7E, 0xA0...0x24F, 0x300...0x36F, 0x370...0x52F, 0x591...0x5F4, 0x600...0x6FF,
            0x700...0x8FF, 0x900...0xDFF, 0xE00...0x10FF, 0x1100...0x11FF, 0x1700...0x1CFF,
            0x1E00...0x20FF, 0x2100...0x2BFF, 0x2E80...0x30FF, 0x4E00...0x4EFF, 0xA800...0xABFF,
            0xAC00...0xACFF, 0xF900...0xFAFF, 0xFB00...0xFDFF, 0xFE00...0xFFEF, 0x1F300...0x1F6FF,
            0x20000...0x200FF,
        ]
        return (0..<count).map { _ in
            var text = ""
            // One or two scripts, as in real titles.
            let scripts = [
                ranges.randomElement(using: &random)!, ranges.randomElement(using: &random)!,
            ]
            for _ in 0..<Int.random(in: 1...40, using: &random) {
                let range =
                    Int.random(in: 0...9, using: &random) == 0
                    ? 0x20...0x2F : scripts.randomElement(using: &random)!
                if let scalar = Unicode.Scalar(UInt32.random(in: range, using: &random)) {
                    text.unicodeScalars.append(scalar)
                }
            }
            return text
        }
    }

    /// What holds for each text: folding is idempotent and gives words with single spaces; the words of the index and the words of a
    /// query are made of the same characters; and a title is found by itself.
    @Test func wordsOfAnyTextAgree() async throws {
        let texts = Self.texts(3000)
        let wrong = try await Self.app().database.withConnection { connection in
            var parameters = Parameters()
            parameters.append(texts: texts)
            let rows = try connection.query(
                """
                SELECT t || ' | ' || array_to_string(ARRAY[
                    CASE WHEN search_fold(f) <> f THEN 'fold again' END,
                    CASE WHEN f ~ '^ |  | $' THEN 'spaces' END,
                    CASE WHEN replace(array_to_string(search_query_words(f), ''), ' ', '') <> replace(f, ' ', '')
                        THEN 'words' END,
                    CASE WHEN length(f) < 400 AND NOT search_query_terms(t) <@ (string_to_array(search_terms(f), ' ') || search_query_words(t))
                        THEN 'terms' END,
                    CASE WHEN f <> '' AND cardinality(search_query_terms(t)) NOT BETWEEN 1 AND 12 THEN 'count' END,
                    CASE WHEN f = '' AND search_query_terms(t) <> '{}' THEN 'signs' END,
                    CASE WHEN NOT search_vector(t, NULL, NULL, NULL, ARRAY[t])
                        @@ array_to_string(ARRAY(SELECT quote_literal(w) || ':*' FROM unnest(search_query_terms(t)) w), ' & ')::tsquery
                        AND f <> '' THEN 'index' END,
                    CASE WHEN search_title(t) = '' AND btrim(t) ~ '[!-/]' THEN 'title' END
                ], ', ')
                FROM unnest($1::text[]) t
                CROSS JOIN LATERAL (SELECT search_fold(t) AS f) folded
                WHERE true
                """, parameters)
            // Compared by bytes, because a sign may belong to the same character as the space after it.
            return (0..<rows.count).compactMap { rows.text($0, 0) }
                .filter { !Array($0.utf8).suffix(3).elementsEqual(" | ".utf8) }
        }
        #expect(wrong.isEmpty, "\(wrong.prefix(5))")
    }

    /// A search of any text, and of any half of it, has no error.
    @Test func anyTextCanBeSearched() async throws {
        let reader = try await Self.reader()
        for text in Self.texts(150) {
            guard !text.allSatisfy(\.isWhitespace) else { continue }
            let response = try await reader.execute(
                """
                query($text: String!) {
                  search(query: $text) { droppedWords nodes { title } }
                  me { books(search: $text, orderBy: RELEVANCE) { totalCount } notes(search: $text) { totalCount } }
                }
                """, ["text": .string(text)])
            #expect(
                response.errors.allSatisfy { $0["extensions", "code"] == "BAD_USER_INPUT" },
                "\(response.json)")
        }
    }
}
