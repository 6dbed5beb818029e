import GraphQL
import TestSupport
import Testing

@testable import Bookplate

/// The languages of the feed. English is the main language of the catalog.
@Suite struct FeedLanguageTests {
    private static let genres = ["Fantasy", "Horror", "Romance", "History", "Poetry"]
    private static let texts = [
        "en": "The story of the book and of all the others.",
        "es": "La historia del libro y de los otros.",
        "de": "Die Geschichte der Bücher und der anderen.",
        "fr": "La petite histoire du livre et de tous les autres.",
    ]

    /// Returns a line of a catalog file. English books are the most popular.
    private static func line(_ number: Int, _ language: String, title: String? = nil) -> String {
        """
        {"ids":{"test":"\(language)\(number)"},"title":"\(title ?? "Card \(language) \(number)")",\
        "authors":["Author \(language) \(number % 20)"],"genres":["\(genres[number % 5])"],"language":"\(language)",\
        "description":"\(texts[language] ?? "")","ratingsCount":\((language == "en" ? 1_000_000 : 1000) - number)}
        """
    }

    /// 60 English books, 20 Spanish, 5 French, and 3 German ones.
    private static let catalog =
        (1...60).map { line($0, "en") } + (1...20).map { line($0, "es") }
        + (1...5).map { line($0, "fr") } + (1...3).map { line($0, "de") }

    private static let app = Shared {
        let app = try await TestApp.start(catalog: catalog)
        try await app.allowGuests()
        return app
    }

    /// Cold-start decks exist.
    private static let refreshedApp = Shared {
        let app = try await TestApp.start(catalog: catalog)
        try await app.refreshFeed()
        return app
    }

    private static let feed = """
        query($after: String, $genres: [String!]) { feed(first: 9, after: $after, genres: $genres) {
          nodes { id language } pageInfo { hasNextPage endCursor }
        } }
        """

    /// Returns the languages of all cards of a scroll.
    private func scroll(_ reader: TestReader, genres: Value = .null) async throws -> [String] {
        var cards: [Value] = []
        var after = Value.null
        repeat {
            let page = try await reader.requireValue(
                Self.feed, ["after": after, "genres": genres], "feed")
            cards += page["nodes"]?.list ?? []
            after =
                page["pageInfo", "hasNextPage"] == true
                ? page["pageInfo", "endCursor"] ?? .null : .null
        } while !after.isNull
        #expect(Set(cards.compactMap { $0["id"]?.string }).count == cards.count)
        return cards.map { $0["language"]?.string ?? "" }
    }

    private func setLanguages(_ languages: [String], _ reader: TestReader) async throws {
        _ = try await reader.requireValue(
            "mutation($input: UpdateProfileInput!) { updateProfile(input: $input) { id } }",
            ["input": ["languages": .list(languages.map { .string($0) })]], "updateProfile", "id")
    }

    private func cards(_ app: TestApp, _ language: String, _ count: Int) async throws -> [Value] {
        try await app.database.text(
            """
            SELECT string_agg(id::text, ' ') FROM (
              SELECT id FROM editions WHERE language = '\(language)' ORDER BY number LIMIT \(count)
            ) e
            """
        ).split(separator: " ").map { .string(String($0)) }
    }

    /// The books of the reader's languages come first, then English ones, then all others.
    @Test(
        arguments: [
            ([], ["en"]), (["en"], ["en"]), (["es"], ["es", "en"]), (["de"], ["de", "en"]),
            (["ja"], ["en"]), (["es", "de"], ["es de", "en"]), (["fr", "en"], ["fr en"]),
        ] as [([String], [String])], [false, true])
    func languagesOfTheProfileComeFirst(
        example: (languages: [String], groups: [String]), hasColdStartDecks: Bool
    ) async throws {
        let app = try await hasColdStartDecks ? Self.refreshedApp() : Self.app()
        let reader = try await app.makeReader()
        try await setLanguages(example.languages, reader)
        let counts = ["en": 60, "es": 20, "fr": 5, "de": 3]
        var rest = try await scroll(reader)
        #expect(rest.count == 88)
        for group in example.groups {
            let group = group.split(separator: " ").map { String($0) }
            let count = group.reduce(0) { $0 + (counts[$1] ?? 0) }
            #expect(rest.prefix(count).allSatisfy { group.contains($0) }, "\(group)")
            rest.removeFirst(min(count, rest.count))
        }
    }

    @Test func headerOfTheSignInChoosesTheLanguage() async throws {
        let reader = try await Self.app().makeReader(acceptLanguage: "es-MX")
        let languages = try await scroll(reader)
        #expect(languages.prefix(20).allSatisfy { $0 == "es" })
        let guest = try await Self.app().makeGuest(acceptLanguage: "fr;q=0.9")
        #expect(try await scroll(guest).prefix(5).allSatisfy { $0 == "fr" })
    }

    @Test func readersOfOneLanguageShareAColdStartDeck() async throws {
        let app = try await Self.refreshedApp()
        let reader = try await app.makeReader(acceptLanguage: "es")
        _ = try await reader.requireValue(Self.feed, .null, "feed")
        #expect(
            try await app.database.count(
                "SELECT count(*) FROM feed_decks WHERE user_id = '\(reader.id.string ?? "")'") == 0)
        let languages = try await app.database.text(
            "SELECT string_agg(language, ' ' ORDER BY language) FROM cold_start_decks")
        #expect(languages == "de en es fr")
    }

    /// Two thirds of the cards are in the first language until it ends.
    @Test func decksMixTheLanguagesOfTheReader() async throws {
        let reader = try await Self.app().makeReader(acceptLanguage: "es, en;q=0.8")
        let languages = try await scroll(reader)
        #expect(languages.prefix(15).count { $0 == "es" } == 10)
        #expect(languages.prefix(80).allSatisfy { ["es", "en"].contains($0) })
    }

    @Test func likedBooksAddTheirLanguage() async throws {
        let app = try await Self.app()
        let reader = try await app.makeReader(acceptLanguage: "en")
        let liked = try await cards(app, "es", 5)
        _ = try await reader.swipe("LIKE", Array(liked.prefix(2)))
        #expect(try await scroll(reader).prefix(60).allSatisfy { $0 == "en" })
        _ = try await reader.swipe("LIKE", Array(liked.dropFirst(2)))
        let languages = try await scroll(reader)
        #expect(languages.prefix(12).count { $0 == "es" } == 10)
        #expect(languages.prefix(75).count { $0 == "es" } == 15)
        #expect(languages.prefix(75).count { $0 == "en" } == 60)
        // They are too small a part of the books that the reader likes now.
        _ = try await reader.swipe("LIKE", try await cards(app, "en", 25))
        #expect(try await scroll(reader).prefix(35).allSatisfy { $0 == "en" })
    }

    @Test func dislikedBooksAddNoLanguage() async throws {
        let app = try await Self.app()
        let reader = try await app.makeReader()
        _ = try await reader.swipe("DISLIKE", try await cards(app, "es", 5))
        #expect(try await scroll(reader).prefix(60).allSatisfy { $0 == "en" })
    }

    @Test func filteredFeedContainsAllLanguages() async throws {
        let reader = try await Self.app().makeReader(acceptLanguage: "es")
        let languages = try await scroll(reader, genres: ["Horror", "Poetry"])
        #expect(languages.prefix(8).allSatisfy { $0 == "es" })
        #expect(languages.dropFirst(8).prefix(24).allSatisfy { $0 == "en" })
        #expect(languages.count == 35)
    }

    /// Books in other languages than the main one need no description and no genre.
    @Test func incompleteBooksOfALanguageAreNotLate() async throws {
        let app = try await TestApp.start(
            catalog: Self.catalog + [
                #"{"ids":{"test":"x"},"title":"La casa de los libros","language":"es","ratingsCount":2000}"#
            ])
        let reader = try await app.makeReader(acceptLanguage: "es, en")
        #expect(
            try await reader.feedCards(10).contains { $0["title"] == "La casa de los libros" })
    }

    @Test func workIsShownInTheLanguageOfTheReader() async throws {
        let app = try await TestApp.start(
            catalog: Self.catalog + [
                Self.line(900, "en", title: "The Shadow of the Wind"),
                Self.line(900, "es", title: "La sombra del viento"),
                Self.line(900, "fr", title: "L'ombre du vent et les livres"),
            ])
        try await app.database.execute(
            """
            SELECT save_work_keys(array_agg(id), array_agg('test'::text), array_agg('wind'::text))
            FROM editions WHERE title ~ '(Shadow|sombra|ombre)'
            """)
        func shown(_ languages: [String]) async throws -> [String] {
            let reader = try await app.makeReader()
            try await setLanguages(languages, reader)
            return try await titles(reader)
        }
        func titles(_ reader: TestReader) async throws -> [String] {
            try await reader.feedCards(100).compactMap { $0["title"]?.string }
                .filter { $0.contains(/Shadow|sombra|ombre/) }
        }
        #expect(try await shown([]) == ["The Shadow of the Wind"])
        #expect(try await shown(["en"]) == ["The Shadow of the Wind"])
        #expect(try await shown(["es"]) == ["La sombra del viento"])
        #expect(try await shown(["de"]) == ["The Shadow of the Wind"])
        #expect(try await shown(["fr", "es"]) == ["L'ombre du vent et les livres"])
        let reader = try await app.makeReader(acceptLanguage: "es")
        _ = try await reader.swipe(
            "DISLIKE",
            [
                .string(
                    try await app.database.text("SELECT id FROM editions WHERE title ~ 'Shadow'"))
            ])
        #expect(try await titles(reader) == [])
    }

    @Test func similarBooksHaveTheLanguageOfTheCard() async throws {
        let app = try await Self.app()
        let reader = try await app.makeReader()
        let card = try await cards(app, "es", 1)[0]
        let similar = try await reader.requireValue(
            "query($id: ID!) { feedCard(id: $id) { similar(first: 3) { language } } }",
            ["id": card],
            "feedCard", "similar")
        #expect(similar == .list(Array(repeating: ["language": "es"], count: 3)))
    }
}
