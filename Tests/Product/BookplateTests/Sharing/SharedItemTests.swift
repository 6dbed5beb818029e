import Basics
import GraphQL
import Identity
import Postgres
import Requests
import TestSupport
import Testing

@testable import Bookplate

/// The content of what links share, as page and in the API.
@Suite struct SharedItemTests {
    static let app = Shared { try await TestApp.start() }

    private func makeWorld() async throws -> SharedWorld {
        try await SharedWorld(try await Self.app())
    }

    @Test func shelfHasPages() async throws {
        let world = try await makeWorld()
        let shelf = try await world.reader.makeShelf("Long")
        try await world.reader.makeBooks(SharedItem.booksMax + 2, shelves: [shelf])
        let (_, token) = try await world.share(["shelfId": shelf])
        let first = try await world.visit(token)
        let books = (first["shared", "books"]?.values(of: "title") ?? []).compactMap(\.string)
        #expect(books.count == SharedItem.booksMax)
        let cursor = try #require(first["shared", "endCursor"]?.string)
        let second = try await world.visit(token, after: .string(cursor))
        let rest = second["shared", "books"]?.values(of: "title").compactMap(\.string) ?? []
        #expect(rest.count == 2 && second["shared", "endCursor"] == .null)
        #expect(Set(books + rest).count == SharedItem.booksMax + 2)
        #expect(first.roundTrips == 2 && second.roundTrips == 2)
        let page = try await world.get(token)
        #expect(page.text.contains("href=\"?after=\(cursor)\""))
        let next = try await world.get("\(token)?utm=x&after=\(cursor)")
        #expect(next.text.contains(rest[0]) && !next.text.contains("?after="))
        // A cursor belongs to its link.
        let (_, other) = try await world.share(["shelfId": shelf])
        for bad in [cursor, "x", ""] {
            #expect(try await world.visit(other, after: .string(bad)).code == "NOT_FOUND")
            #expect(try await world.get("\(other)?after=\(bad)").status == 404)
        }
    }

    /// A page of a large shelf reads only its own books.
    @Test func pageOfALargeShelfReadsFewRows() async throws {
        let app = try await TestApp.start(catalog: [])
        let world = try await SharedWorld(app)
        let shelf = try await world.reader.makeShelf("Large")
        let user = world.reader.id.string ?? ""
        try await app.database.execute(
            """
            INSERT INTO books (user_id, id, title, added_at)
            SELECT '\(user)', gen_random_uuid(), 'Book ' || n, now() - n * interval '1 minute'
            FROM generate_series(1, 20000) n;
            INSERT INTO shelf_books (user_id, shelf_id, book_id, added_at)
            SELECT user_id, '\(shelf.string ?? "")', id, added_at FROM books WHERE user_id = '\(user)';
            ANALYZE books, shelf_books
            """)
        let (_, token) = try await world.share(["shelfId": shelf])
        let cursor = try #require(try await world.visit(token)["shared", "endCursor"]?.string)
        let keys = app.keys
        let opened = try #require(
            SharedToken(token)?.open(cursor, for: "cursor", keys: keys)
                .flatMap { SharedBook.Position(bytes: $0) })
        let statement = SharedBook.ofShelf.statement.text
            .replacing("$1", with: "'\(user)'").replacing("$2", with: "'\(shelf.string ?? "")'")
            .replacing("$3", with: "'\(opened.key)'").replacing(
                "$4", with: "'\(opened.entry)'::uuid")
        let plan = try await app.database.withConnection {
            try $0.texts("EXPLAIN (ANALYZE, TIMING OFF) \(statement)").joined(separator: "\n")
        }
        #expect(plan.contains("shelf_books_added_at"), "\(plan)")
        let most = plan.matches(of: /rows=(\d+)(?:\.\d+)? loops/).compactMap { Int($0.1) }.max()
        #expect(most == SharedItem.booksMax + 1, "\(plan)")
    }

    @Test func reviewShowsItsBook() async throws {
        let world = try await makeWorld()
        let book = try await world.reader.makeBook([
            "title": "Dune", "authors": [["name": "Frank Herbert"]], "status": "READ",
        ])
        let review = try await world.reader.requireValue(
            """
            mutation($book: ID!) {
              reviewBook(id: $book, input: {rating: 4, text: "Paul <wins>.\\nTwice.", hasSpoilers: true}) { id }
            }
            """, ["book": book], "reviewBook", "id")
        let (_, token) = try await world.share(["reviewId": review])
        let shared = try await world.visit(token)
        #expect(shared["shared", "kind"] == "REVIEW" && shared["shared", "title"] == "Dune")
        #expect(
            shared["shared", "review"] == [
                "stars": 4, "text": "Paul <wins>.\nTwice.", "hasSpoilers": true,
            ])
        #expect(shared["shared", "books", 0, "author"] == "Frank Herbert")
        #expect(shared["shared", "note"] == .null && shared["shared", "year"] == .null)
        let page = try await world.get(token).text
        #expect(page.contains("★★★★") && page.contains("Paul &lt;wins&gt;."))
        #expect(page.contains("<details>") && page.contains("aria-label=\"4 stars\""))
        // A preview does not reveal the plot.
        #expect(page.contains("<meta property=\"og:description\" content=\"Dune\">"))
    }

    @Test func noteShowsItsBook() async throws {
        let world = try await makeWorld()
        let book = try await world.reader.makeBook("Dune")
        let note = try await world.note(
            book, ["text": "Fear", "comment": "Yes", "chapter": "One", "page": 12])
        let (_, token) = try await world.share(["noteId": note])
        #expect(
            try await world.visit(token)["shared", "note"]
                == ["text": "Fear", "comment": "Yes", "chapter": "One", "page": 12])
        let page = try await world.get(token).text
        #expect(page.contains("<blockquote class=\"text\" dir=\"auto\">Fear</blockquote>"))
        #expect(page.contains("<bdi>One</bdi> · Page 12"))
    }

    @Test func yearShowsItsFinishedBooks() async throws {
        let world = try await makeWorld()
        var books: [Value] = []
        for title in ["Emma", "Dune"] {
            books.append(
                try await world.reader.makeBook(["title": .string(title), "pageCount": 1200]))
        }
        for (book, day) in [
            (books[0], "2024-01-05"), (books[1], "2024-12"), (books[0], "2024"),
            (books[1], "2023-12-31"), (books[1], "2025-01-01"),
        ] {
            try await world.finish(book, on: day)
        }
        let (_, token) = try await world.share(["year": 2024])
        let shared = try await world.visit(token)
        #expect(
            shared["shared", "year"] == [
                "year": 2024, "finishedBooks": 2, "pages": 3600, "hours": 0,
                "finishedReadsByMonth": [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
            ])
        #expect(shared["shared", "books"]?.values(of: "title") == ["Dune", "Emma", "Emma"])
        #expect(try await world.get(token).text.contains("<dd>3\u{202F}600</dd>"))
        let (_, empty) = try await world.share(["year": 1999])
        #expect(try await world.get(empty).text.contains("There are no books here yet."))
    }

    @Test func nameIsShownOnlyOnRequest() async throws {
        let world = try await makeWorld()
        _ = try await world.reader.requireValue(
            "mutation { updateProfile(input: {displayName: \"<Ada>\"}) { id } }", .null,
            "updateProfile")
        for (shows, name) in [(true, Value.string("<Ada>")), (false, .null)] {
            let (_, token) = try await world.share(["year": 2024], ["showsName": .boolean(shows)])
            #expect(try await world.visit(token)["shared", "readerName"] == name)
            let page = try await world.get(token).text
            #expect(
                page.contains("Shared by <bdi>&lt;Ada&gt;</bdi> via <bdi>Alpha</bdi>") == shows)
            #expect(page.contains("Ada") == shows)
        }
    }

    /// The address of the reader's own cover contains no id, and ends with the link. The address of an edition's cover is public already.
    @Test func coversEndWithTheLink() async throws {
        let world = try await makeWorld()
        let shelf = try await world.reader.makeShelf("Covers")
        let book = try await world.reader.makeBook("Photo", shelves: [shelf])
        _ = try await world.reader.setCover(
            "mutation($book: ID!, $image: Upload!) { setCover(id: $book, input: {image: $image}) { id } }",
            book, TestImage.png())
        let (id, token) = try await world.share(["shelfId": shelf])
        let url = try await world.visit(token)["shared", "books", 0, "cover", "url"]?.string ?? ""
        let prefix = "http://covers.test/s/"
        #expect(url.hasPrefix("\(prefix)\(token)/") && url.hasSuffix(".jpg"))
        #expect(try await world.visit(token)["shared", "books", 0, "cover", "url"]?.string == url)
        let page = try await world.get(token).text
        #expect(page.contains("src=\"\(url)\""))
        #expect(page.contains("<meta property=\"og:image\" content=\"\(url)\">"))
        let path = String(url.dropFirst(prefix.count))
        let cover = try await world.get(path)
        #expect(
            cover.status == 200 && cover.headers["Cache-Control"]?.contains("max-age=60") == true)
        let cached = try await world.get(path, etag: cover.headers["ETag"])
        #expect(cached.status == 304 && cached.text.isEmpty)
        // The same name with another link.
        let (_, other) = try await world.share(["shelfId": shelf])
        #expect(try await world.get(path.replacing(token, with: other)).status == 404)
        let sealed = path.dropFirst(token.count + 1)
        let changed = (sealed.hasPrefix("A") ? "B" : "A") + sealed.dropFirst()
        #expect(try await world.get("\(token)/\(changed)").status == 404)
        try await world.revoke(id)
        #expect(try await world.get(path).status == 404)
    }

    /// A cover of a book that has left the shelf is not shared any more, nor one that another has replaced.
    @Test(arguments: ["DELETE FROM shelf_books", "UPDATE covers SET version = repeat('0', 32)"])
    func addressOfACoverEndsWithItsPlace(change: String) async throws {
        let world = try await makeWorld()
        let shelf = try await world.reader.makeShelf("Places")
        let book = try await world.reader.makeBook("Photo", shelves: [shelf])
        _ = try await world.reader.setCover(
            "mutation($book: ID!, $image: Upload!) { setCover(id: $book, input: {image: $image}) { id } }",
            book, TestImage.png())
        let (_, token) = try await world.share(["shelfId": shelf])
        let url = try await world.visit(token)["shared", "books", 0, "cover", "url"]?.string ?? ""
        let path = url.replacing("http://covers.test/s/", with: "")
        #expect(try await world.get(path).status == 200)
        try await world.app.database.execute(
            "\(change) WHERE user_id = '\(world.reader.id.string ?? "")'")
        #expect(try await world.get(path).status == 404)
    }

    /// Each field `shared` has a price of its own: a request can have many.
    @Test func eachSharedFieldIsCharged() async throws {
        let app = try await TestApp.start(
            catalog: [], rates: RateLimits(.init(perCaller: 40), clock: { .zero }))
        let world = try await SharedWorld(app)
        let (_, token) = try await world.share(["year": 2024])
        func cost(_ count: Int) async throws -> Int {
            let fields = (0..<count).map { "f\($0): shared(token: \"\(token)\") { title }" }
            func left() async throws -> Int {
                try #require(
                    try await world.reader.execute("{ __typename }").rate?.remainingUnits)
            }
            let before = try await left()
            let response = try await world.reader.execute(
                "{ \(fields.joined(separator: " ")) }")
            #expect(response["f0", "title"] == "2024", "\(response.json)")
            return before - (try await left())
        }
        #expect(try await cost(4) == cost(1) + 3)
    }

    // MARK: - The page

    @Test func pageHasStrictHeaders() async throws {
        let world = try await makeWorld()
        let (_, token) = try await world.share(["year": 2024])
        let page = try await world.get(token, language: "de-AT, en;q=0.5")
        #expect(page.headers["Referrer-Policy"] == "no-referrer")
        #expect(page.headers["X-Robots-Tag"] == "noindex")
        #expect(page.headers["Cache-Control"] == "public, max-age=60, must-revalidate")
        #expect(
            page.headers["Content-Language"] == "de" && page.headers["Vary"] == "Accept-Language")
        #expect(
            page.headers["Content-Security-Policy"]
                == "default-src 'none'; style-src http://covers.test; img-src http://covers.test; "
                + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
        #expect(!page.text.contains("<script") && !page.text.contains("style=\""))
        let etag = try #require(page.headers["ETag"])
        let cached = try await world.get(token, language: "de", etag: etag)
        #expect(cached.status == 304 && cached.text.isEmpty && cached.headers["ETag"] == etag)
        #expect(try await world.get(token, language: "fr", etag: etag).status == 200)
        let style = try await world.get("page.css")
        #expect(style.status == 200 && style.text.contains("prefers-color-scheme: dark"))
    }

    @Test(arguments: SharedTexts.all.map(\.language))
    func pageHasEachLanguage(language: String) async throws {
        let world = try await makeWorld()
        let texts = try #require(SharedTexts.all.first { $0.language == language })
        let (_, token) = try await world.share(["year": 2024])
        let page = try await world.get(token, language: language)
        #expect(page.text.contains("<html lang=\"\(language)\">"))
        #expect(page.text.contains(texts.empty))
        #expect(try await world.get("x", language: language).text.contains(texts.missingTitle))
        #expect(OAuthTexts.all.map(\.language) == SharedTexts.all.map(\.language))
    }

    @Test(arguments: ["", "a", "cover", String(repeating: "x", count: 100)])
    func referencesAreSealed(text: String) {
        let keys = SessionKeys.generate()
        let token = SharedToken(of: .version7(), seed: .version7(), keys: keys)
        let other = SharedToken(of: .version7(), seed: .version7(), keys: keys)
        let sealed = token.seal(Array(text.utf8), for: "cover", keys: keys)
        #expect(sealed == token.seal(Array(text.utf8), for: "cover", keys: keys))
        if !text.isEmpty {
            #expect(token.open(sealed, for: "cover", keys: keys) == Array(text.utf8))
        }
        #expect(other.open(sealed, for: "cover", keys: keys) == nil)
        #expect(token.open(sealed, for: "cursor", keys: keys) == nil)
    }
}
