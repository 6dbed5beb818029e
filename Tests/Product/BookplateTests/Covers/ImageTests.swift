import GraphQL
import ImageProcessing
import TestSupport
import Testing

@testable import Bookplate
@testable import Requests

/// `Book.image` and `FeedCard.image`.
@Suite struct ImageTests {
    static let app = Shared { try await TestApp.start(catalog: TestCatalog.lines(50)) }

    private static let image = """
        image {
          url thumbnail: url(size: THUMBNAIL) full: url(size: FULL) large: url(size: LARGE)
          width height dominantColor blurHash kind source updatedAt
        }
        """
    private static let book = "query($id: ID!) { book(id: $id) { \(image) coverStatus } }"
    private static let card = """
        query($id: ID!) { feedCard(id: $id) { \(image) genres { name } inLibrary { \(image) } } }
        """
    private static let update =
        "mutation($id: ID!, $input: UpdateBookInput!) { updateBook(id: $id, input: $input) { \(image) } }"
    private static let remove =
        "mutation($id: ID!) { removeCover(id: $id) { \(image) coverStatus updatedAt } }"

    private func book(_ reader: TestReader, _ id: Value) async throws -> Value {
        try await reader.requireValue(Self.book, ["id": id], "book")
    }

    private func card(_ reader: TestReader, _ id: Value) async throws -> Value {
        try await reader.requireValue(Self.card, ["id": id], "feedCard")
    }

    /// Returns the id of the card with a number in the catalog. Each test gives covers to other cards.
    private func edition(_ number: Int) async throws -> Value {
        .string(
            try await Self.app().database.text(
                "SELECT id FROM editions WHERE title = 'Card \(number)'"))
    }

    /// Gives an edition a cover. Its files do not exist.
    private func setCover(_ card: Value, width: Int = 500) async throws {
        let version = String(repeating: "ab", count: 16)
        let set = try await Self.app().database.count(
            """
            SELECT count(set_edition_cover('\(card.string ?? "")', '\(version)', \(width), 700, '#336699', 'L6Pj0'))
            """)
        #expect(set == 1)
    }

    // MARK: - Cards

    @Test func cardWithoutACoverHasATitleCard() async throws {
        let reader = try await Self.app().makeReader()
        let id = try await edition(1)
        let card = try await card(reader, id)
        let image = try #require(card["image"])
        let base = "http://covers.test/title-cards/\(id.string ?? "").jpg?"
        let url = try #require(image["url"]?.string)
        #expect(url.hasPrefix(base + "v="))
        let version = url.dropFirst(base.count)
        #expect(image["thumbnail"] == .string("\(base)size=thumbnail&\(version)"))
        #expect(image["full"]?.string == url)
        // A title card has no larger size.
        #expect(image["large"]?.string == url)
        #expect(image["width"] == 600 && image["height"] == 900)
        #expect(image["kind"] == "TITLE_CARD")
        #expect(image["source"] == .null && image["updatedAt"] == .null)
        let palette = TitleCardPalette.of(card["genres", 0, "name"]?.string)
        #expect(image["dominantColor"]?.string == palette.dominantColor)
        #expect(image["blurHash"]?.string == palette.blurHash)
    }

    @Test(
        arguments: [
            (10, 500, "HIGH_RESOLUTION"), (11, 400, "HIGH_RESOLUTION"), (12, 399, "THUMBNAIL"),
        ])
    func coverOfTheCatalogIsTheImageOfItsCard(number: Int, width: Int, kind: String) async throws {
        let reader = try await Self.app().makeReader()
        let id = try await edition(number)
        try await setCover(id, width: width)
        let card = try await card(reader, id)
        let base = "http://covers.test/edition-covers/\(id.string ?? "").jpg?"
        let version = "v=" + String(repeating: "ab", count: 16)
        #expect(
            card["image"] == [
                "url": .string(base + version),
                "thumbnail": .string("\(base)size=thumbnail&\(version)"),
                "full": .string(base + version),
                "large": .string("\(base)size=large&\(version)"),
                "width": .int(width), "height": 700, "dominantColor": "#336699",
                "blurHash": "L6Pj0", "kind": .string(kind), "source": .null, "updatedAt": .null,
            ])
    }

    // MARK: - Cards that become books

    enum Way: Int, CaseIterable { case like, card, isbn }

    /// Every field of the image stays the same, so the app does not load another one.
    @Test(arguments: Way.allCases, [false, true])
    func bookOfACardHasItsImageAtOnce(way: Way, hasCover: Bool) async throws {
        let reader = try await Self.app().makeReader()
        let number = (hasCover ? 20 : 30) + way.rawValue
        let id = try await edition(number)
        if hasCover { try await setCover(id) }
        let before = try await self.card(reader, id)
        #expect((before["image", "kind"] == "TITLE_CARD") == !hasCover)
        let book: Value
        switch way {
        case .like:
            book = try #require(
                try await reader.swipe("LIKE", [id])["recordSwipes", "saved", 0, "id"])
        case .card: book = try await reader.makeBook(["cardId": id])
        case .isbn: book = try await reader.makeBook(["isbn": .string(TestCatalog.isbn(number))])
        }
        let after = try await self.book(reader, book)
        #expect(after["image"] == before["image"])
        let again = try await self.card(reader, id)
        #expect(again["image"] == before["image"] && again["inLibrary", "image"] == before["image"])
        // The list of books shows the same image as the book by itself.
        let listed = try await reader.requireValue(
            "{ me { books { nodes { \(Self.image) } } } }", .null, "me", "books", "nodes", 0)
        #expect(listed["image"] == before["image"])
    }

    /// A book has a title card of its own as soon as its texts differ from those of its card.
    @Test(
        arguments: [["title": "Another"], ["authors": [["name": "Another"]]], ["genre": "Another"]]
            as [Value])
    func titleCardShowsTheReadersWords(input: Value) async throws {
        let reader = try await Self.app().makeReader()
        let id = try await edition(2)
        let card = try await card(reader, id)
        let book = try await reader.makeBook(["cardId": id])
        let changed = try await reader.requireValue(
            Self.update, ["id": book, "input": input], "updateBook", "image")
        let base =
            "http://covers.test/title-cards/\(reader.id.string ?? "")/\(book.string ?? "").jpg?v="
        #expect(changed["url"]?.string?.hasPrefix(base) == true)
        #expect(changed["kind"] == "TITLE_CARD" && changed["width"] == 600)
        let hasSameColor = changed["dominantColor"] == card["image", "dominantColor"]
        #expect(hasSameColor || input["genre"] != nil)
    }

    @Test func bookWithoutACardHasATitleCard() async throws {
        let reader = try await Self.app().makeReader()
        let id = try await reader.makeBook(["title": "By hand", "genre": "My genre"])
        let book = try await book(reader, id)
        let path = "title-cards/\(reader.id.string ?? "")/\(id.string ?? "").jpg"
        #expect(
            book["image", "url"]?.string?.hasPrefix("http://covers.test/\(path)?v=") == true)
        #expect(
            book["image", "thumbnail"]?.string?.hasPrefix(
                "http://covers.test/\(path)?size=thumbnail&v=") == true)
        let palette = TitleCardPalette.of("My genre")
        #expect(book["image", "dominantColor"]?.string == palette.dominantColor)
        #expect(book["image", "blurHash"]?.string == palette.blurHash)
        #expect(book["image", "height"] == 900 && book["image", "kind"] == "TITLE_CARD")
    }

    // MARK: - The reader's own cover

    @Test(arguments: [(60, 90, "THUMBNAIL"), (500, 700, "HIGH_RESOLUTION")])
    func uploadReplacesTheImageOfTheCard(width: Int, height: Int, kind: String) async throws {
        let reader = try await Self.app().makeReader()
        let card = try await edition(width == 60 ? 40 : 41)
        try await setCover(card)
        let id = try await reader.makeBook(["cardId": card])
        let set = try await reader.setCover(
            """
            mutation($book: ID!, $image: Upload!) {
              setCover(id: $book, input: {image: $image}) {
                \(Self.image)
              }
            }
            """, id, TestImage.png(width: width, height: height))
        let image = try #require(set["setCover", "image"])
        let path = "book-covers/\(reader.id.string ?? "")/\(id.string ?? "").jpg"
        #expect(image["url"]?.string?.hasPrefix("http://covers.test/\(path)?v=") == true)
        #expect(
            image["large"]?.string?.hasPrefix("http://covers.test/\(path)?size=large&v=") == true)
        #expect(image["kind"]?.string == kind && image["source"] == "MANUAL_UPLOAD")
        #expect(image["width"] == .int(width) && image["height"] == .int(height))
        #expect(image["updatedAt"]?.string.flatMap { Instant($0) } != nil)
        // The card keeps its own image.
        let after = try await self.card(reader, card)
        #expect(after["image", "source"] == .null && after["inLibrary", "image"] == image)
    }

    /// If a removed cover were followed by that of the card, which may be the same, removing would have no effect.
    @Test func removedCoverIsNotReplacedByTheCoverOfTheCard() async throws {
        let reader = try await Self.app().makeReader()
        let card = try await edition(42)
        try await setCover(card)
        let id = try await reader.makeBook(["cardId": card])
        var removed: [Value] = []
        for _ in 0..<2 {
            removed.append(try await reader.requireValue(Self.remove, ["id": id], "removeCover"))
        }
        #expect(removed[0] == removed[1])
        #expect(
            removed[0]["image", "kind"] == "TITLE_CARD" && removed[0]["coverStatus"] == "NO_COVER")
        let set = try await reader.setCover(
            "mutation($book: ID!, $image: Upload!) { setCover(id: $book, input: {image: $image}) { id } }",
            id, TestImage.png())
        #expect(set.errors.isEmpty)
        #expect(try await book(reader, id)["image", "source"] == "MANUAL_UPLOAD")
        let again = try await reader.requireValue(Self.remove, ["id": id], "removeCover")
        #expect(again["image"] == removed[0]["image"])
        // The card, and other readers' books of it, are not affected.
        #expect(try await self.card(reader, card)["image", "width"] == 500)
        let other = try await Self.app().makeReader()
        let theirs = try await other.makeBook(["cardId": card])
        #expect(try await book(other, theirs)["image", "width"] == 500)
    }

    /// Removing the cover of a book that shows none changes nothing.
    @Test func removingNoCoverIsNotAChange() async throws {
        let reader = try await Self.app().makeReader()
        let id = try await reader.makeBook("By hand")
        let changes = "SELECT count(*) FROM changes WHERE user_id = '\(reader.id.string ?? "")'"
        let before = try await Self.app().database.count(changes)
        _ = try await reader.requireValue(Self.remove, ["id": id], "removeCover")
        #expect(try await Self.app().database.count(changes) == before)
    }

    /// The columns of an edition's cover are all set or all null.
    @Test(arguments: ["version", "width", "height", "dominant_color", "blur_hash"])
    func coverOfAnEditionIsComplete(column: String) async throws {
        let card = try await edition(43)
        try await setCover(card)
        await #expect(throws: (any Error).self) {
            try await Self.app().database.execute(
                "UPDATE editions SET cover_\(column) = NULL WHERE id = '\(card.string ?? "")'")
        }
    }
}
