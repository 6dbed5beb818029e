import GraphQL
import TestSupport
import Testing

@testable import Bookplate

/// Works with several records in the catalog: other editions, or the same edition from several sources.
@Suite struct FeedWorkTests {
    private struct Record {
        var title = "The Left Hand of Darkness"
        var author: String? = "Ursula K. Le Guin"
        var series: String?
        var seriesPosition: String?
        var genre = "Fantasy"
        var language = "en"
        var isDescribed = true
        var ratingsCount = 1000

        /// Returns a line of a catalog file. The number identifies the record, also in its ISBN.
        func line(_ number: Int) -> String {
            func member(_ name: String, _ text: String?) -> String {
                text.map { "\"\(name)\":\"\($0)\"," } ?? ""
            }
            return """
                {\(member("title", title))\(member("series", series))\(member("seriesPosition", seriesPosition))\
                "authors":[\(author.map { "\"\($0)\"" } ?? "")],"isbn13":"\(TestCatalog.isbn(number))",\
                \(member("description", isDescribed ? "An envoy travels to a cold planet." : nil))\
                "genres":["\(genre)"],"language":"\(language)","ratingsCount":\(ratingsCount)}
                """
        }
    }

    /// The records, numbered from 901, among 40 other books.
    private static func makeApp(_ records: [Record]) async throws -> TestApp {
        let others = (1...40).map { number in
            Record(
                title: "Card \(number)", author: "Author \(number)",
                genre: ["Fantasy", "Horror", "History"][number % 3],
                ratingsCount: 2000 - number * 40
            ).line(number)
        }
        return try await TestApp.start(
            catalog: others + records.enumerated().map { $0.element.line(901 + $0.offset) })
    }

    /// Two records of one work, one of them much more popular.
    private static let two = [
        Record(genre: "Horror", ratingsCount: 10), Record(ratingsCount: 1500),
    ]

    /// The numbers of the records that a scroll from the beginning shows, without the other books.
    private func shown(_ reader: TestReader) async throws -> [Int] {
        var isbns: [String] = []
        var cursor = Value.null
        for _ in 0..<20 {
            let page = try await reader.requireValue(
                """
                query($after: String) { feed(first: 7, after: $after) {
                  nodes { isbn13 } pageInfo { hasNextPage endCursor }
                } }
                """, ["after": cursor], "feed")
            isbns += page["nodes"]?.values(of: "isbn13").compactMap(\.string) ?? []
            guard page["pageInfo", "hasNextPage"] == true else { break }
            cursor = page["pageInfo", "endCursor"] ?? .null
        }
        #expect(Set(isbns).count == isbns.count)
        #expect(isbns.count >= 39)
        return (901...920).filter { isbns.contains(TestCatalog.isbn($0)) }
    }

    private func card(_ number: Int, _ reader: TestReader) async throws -> Value {
        try await reader.requireValue(
            "query($isbn: String!) { lookupISBN(isbn: $isbn) { id } }",
            ["isbn": .string(TestCatalog.isbn(number))], "lookupISBN", "id")
    }

    // MARK: - Records of the same work

    @Test(arguments: [
        ("The Left Hand of Darkness", "Ursula K. Le Guin"),
        ("Left hand of darkness", "Ursula Le Guin"),
        ("The Left Hand of Darkness (Hainish Cycle, #4)", "Le Guin, Ursula K."),
        ("THE LEFT HAND OF DARKNESS [paperback]", "U. K. Le Guin"),
        ("The Left-Hand of Darkness!", "Ursulá K. Lé Guin"),
        ("The Left Hand of Darkness: A Novel", "Ursula K. Le Guin"),
        ("The Left Hand of Darkness – A Hainish Novel of the Ekumen", "Ursula K. Le Guin"),
        ("The Left Hand of Darkness: 50th Anniversary Edition", "Ursula K. Le Guin"),
        ("The Left Hand of Darkness Board Book", "Ursula K. Le Guin"),
    ])
    func recordsWithTheSameTitleAndAuthorAreOneWork(title: String, author: String) async throws {
        let app = try await Self.makeApp([Record(), Record(title: title, author: author)])
        #expect(try await shown(app.makeReader()) == [901])
    }

    @Test(arguments: [
        ("The Right Hand of Darkness", "Ursula K. Le Guin"),
        ("The Left Hand of Darkness: A Study", "Ursula K. Le Guin"),
        ("The Left Hand of Darkness: The Graphic Novel", "Ursula K. Le Guin"),
        ("The Left Hand of Darkness: A Novel in Pictures: Part 2", "Ursula K. Le Guin"),
        ("The Left Hand of Darkness", "Ada Palmer"),
        ("The Left Hand of Darkness", "Peter Le Guin"),
        ("The Left Hand of Darkness", nil),
    ])
    func recordsWithAnotherTitleOrAuthorAreAnotherWork(title: String, author: String?) async throws
    {
        let app = try await Self.makeApp([Record(), Record(title: title, author: author)])
        #expect(try await shown(app.makeReader()) == [901, 902])
    }

    @Test func volumesWithTheSameTitleAreDifferentWorks() async throws {
        let app = try await Self.makeApp([
            Record(title: "Saga", seriesPosition: "1", ratingsCount: 1900),
            Record(title: "Saga", seriesPosition: "2", ratingsCount: 1800),
            Record(title: "Saga (Saga, #2)", ratingsCount: 1700),
            Record(title: "Saga (Volume 3)", ratingsCount: 1600),
        ])
        #expect(try await shown(app.makeReader()) == [901, 902, 904])
    }

    @Test func recordsOfOneVolumeAreOneWorkUnderAnyTitle() async throws {
        let app = try await Self.makeApp([
            Record(title: "The Golden Compass", series: "His Dark Materials", seriesPosition: "1"),
            Record(title: "Northern Lights", series: "His Dark Materials", seriesPosition: "1"),
            Record(
                title: "Luces del norte", series: "his dark materials", seriesPosition: "1",
                language: "es"),
            Record(title: "The Subtle Knife", series: "His Dark Materials", seriesPosition: "2"),
        ])
        let reader = try await app.makeReader()
        #expect(try await shown(reader) == [901, 904])
        // A corrected position separates the record.
        try await app.database.importCatalog([
            Record(title: "Northern Lights", series: "His Dark Materials", seriesPosition: "0.5")
                .line(902)
        ])
        try await app.buildDecks()
        #expect(try await shown(reader) == [901, 902, 904])
    }

    /// One catalog counts the volumes in the order of publication, and another in that of the story.
    @Test func volumesOfTwoNumberingsAreDifferentWorks() async throws {
        let app = try await Self.makeApp([
            Record(title: "The Lion", series: "Narnia", seriesPosition: "1"),
            Record(title: "The Lion", series: "Narnia", seriesPosition: "2"),
            Record(title: "The Nephew", series: "Narnia", seriesPosition: "1"),
            Record(title: "Prince Caspian", series: "Narnia", seriesPosition: "2"),
        ])
        let joined = try await app.database.count(
            """
            SELECT count(*)
            FROM work_records w
            JOIN editions e ON e.id = w.edition_id
            WHERE e.title IN ('The Lion', 'The Nephew', 'Prince Caspian')
            """)
        #expect(joined == 0)
    }

    @Test(arguments: [
        Record(title: "Northern Lights, Part 1", series: "Saga", seriesPosition: "1"),
        Record(title: "Saga: 3 in 1", series: "Saga", seriesPosition: "1"),
        Record(title: "Three Novels", series: "Saga", seriesPosition: "1"),
        Record(title: "Compass / Knife / Spyglass", series: "Saga", seriesPosition: "1"),
        Record(title: "Northern Lights", author: "Ada Palmer", series: "Saga", seriesPosition: "1"),
        Record(title: "Northern Lights", series: "Saga", seriesPosition: "1-3"),
        Record(title: "Northern Lights", series: "Saga", seriesPosition: "0.5"),
        Record(title: "Northern Lights", series: "Sagas", seriesPosition: "1"),
        Record(title: "Northern Lights", series: "Saga"),
    ])
    private func partsAndCollectionsAreOtherWorksThanTheVolume(record: Record) async throws {
        let app = try await Self.makeApp([
            Record(title: "The Golden Compass", series: "Saga", seriesPosition: "1"), record,
        ])
        #expect(try await shown(app.makeReader()) == [901, 902])
    }

    // MARK: - The shown record

    @Test(arguments: [
        [Record(ratingsCount: 10), Record(ratingsCount: 1500)],
        [Record(isDescribed: false, ratingsCount: 1500), Record(ratingsCount: 10)],
        [Record(language: "fr", ratingsCount: 1500), Record(ratingsCount: 10)],
    ])
    private func bestRecordOfAWorkIsShown(records: [Record]) async throws {
        let app = try await Self.makeApp(records)
        #expect(try await shown(app.makeReader()) == [902])
        // After the record is removed, the other one is shown.
        try await app.database.execute(
            "DELETE FROM editions WHERE isbn13 = '\(TestCatalog.isbn(902))'")
        #expect(try await shown(app.makeReader()) == [901])
    }

    @Test func correctedRecordsAreMatchedAgain() async throws {
        let app = try await Self.makeApp(Self.two)
        let reader = try await app.makeReader()
        _ = try await reader.swipe("DISLIKE", [try await card(902, reader)])
        try await app.buildDecks()
        #expect(try await shown(reader) == [])
        try await app.database.importCatalog([Record(title: "Rocannon's World").line(901)])
        #expect(try await shown(reader) == [901])
        try await app.database.importCatalog([Record().line(901)])
        #expect(try await shown(reader) == [])
    }

    // MARK: - Seen works

    @Test(arguments: ["LIKE", "DISLIKE", "BUY", "SKIP"], [901, 902])
    func swipedWorkIsNotShownAsAnotherRecord(action: String, number: Int) async throws {
        let app = try await Self.makeApp(Self.two)
        let reader = try await app.makeReader()
        let card = try await card(number, reader)
        #expect(try await shown(reader) == [902])
        _ = try await reader.swipe(action, [card])
        #expect(try await shown(reader) == [])
        // The reader's deck does not contain it either.
        try await app.buildDecks()
        #expect(try await shown(reader) == [])
        // A record that is added later does not change that, although it is the best one.
        try await app.database.importCatalog([Record(ratingsCount: 1900).line(903)])
        #expect(try await shown(reader) == [])
        try await app.buildDecks()
        #expect(try await shown(reader) == [])
        #expect(try await shown(app.makeReader()) == [903])
        // The work is shown again after the swipe is undone.
        _ = try await reader.execute(SwipeTests.undo, ["id": card])
        #expect(try await shown(reader) == [903])
        try await app.buildDecks()
        #expect(try await shown(reader) == [903])
    }

    @Test func ownedWorkIsNotShownAsAnotherRecord() async throws {
        let app = try await Self.makeApp(Self.two)
        let reader = try await app.makeReader()
        let book = try await reader.makeBook(["isbn": .string(TestCatalog.isbn(901))])
        #expect(try await shown(reader) == [])
        try await app.buildDecks()
        #expect(try await shown(reader) == [])
        _ = try await reader.execute(
            "mutation($id: ID!) { deleteBook(id: $id) { id } }", ["id": book])
        #expect(try await shown(reader) == [902])
    }

    @Test func deckDoesNotShowAWorkAfterItsOtherRecordIsSwiped() async throws {
        let app = try await Self.makeApp(Self.two)
        let reader = try await app.makeReader()
        _ = try await reader.swipe("LIKE", [try await reader.feedCards(1)[0]["id"] ?? .null])
        try await app.buildDecks()
        #expect(try await shown(reader) == [902])
        _ = try await reader.swipe("DISLIKE", [try await card(901, reader)])
        #expect(try await shown(reader) == [])
    }

    @Test func pageDoesNotChangeWhenAnotherRecordIsSwiped() async throws {
        let app = try await Self.makeApp(Self.two)
        let reader = try await app.makeReader()
        var pages: [(cursor: Value, cards: Value)] = []
        var cursor = Value.null
        for _ in 0..<6 {
            let page = try await reader.requireValue(
                FeedTests.feed, ["first": 7, "after": cursor], "feed")
            pages.append((cursor, page["nodes"] ?? .null))
            cursor = page["pageInfo", "endCursor"] ?? .null
        }
        _ = try await reader.swipe("DISLIKE", [try await card(901, reader)])
        try await app.buildDecks()
        for page in pages.dropFirst() {
            let again = try await reader.requireValue(
                FeedTests.feed, ["first": 7, "after": page.cursor], "feed", "nodes")
            #expect(again == page.cards)
        }
    }

    /// No record of the work is shown for 30 days, and then only the skipped one.
    @Test func skippedWorkIsShownAgainUnlessAnotherRecordIsDisliked() async throws {
        let app = try await Self.makeApp(Self.two)
        let reader = try await app.makeReader()
        _ = try await reader.swipe("SKIP", [try await card(902, reader)])
        try await app.database.execute(
            """
            UPDATE swipes SET swiped_at = swiped_at - interval '31 days',
              recorded_at = recorded_at - interval '31 days';
            UPDATE feed_readers SET signals_version = signals_version + 1
            """)
        #expect(try await shown(reader) == [902])
        _ = try await reader.swipe("DISLIKE", [try await card(901, reader)])
        #expect(try await shown(reader) == [])
    }
}
