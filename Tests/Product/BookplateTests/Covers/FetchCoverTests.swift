import GraphQL
import LoopbackHTTP
import Synchronization
import TestSupport
import Testing

@testable import Bookplate

/// Searches for covers: which sources are queried, and which image is chosen.
@Suite struct FetchCoverTests {
    private static let live = """
        subscription { coverChanged { book { id } status source image { url } } }
        """

    @Test func findsACoverByISBN() async throws {
        let world = try await CoverWorld.start()
        world.addFoxRecord()
        world.setResponse(CoverWorld.foxImageTarget, image: TestImage.png(width: 400, height: 600))
        let reader = try await world.app.makeReader()
        let live = try await reader.subscribe(Self.live)
        let made = try await reader.requireValue(
            """
            mutation($input: CreateBookInput!) { createBook(input: $input) { id coverStatus image { source } } }
            """, ["input": ["title": "The fox", "isbn": .string(CoverWorld.fox)]], "createBook")
        #expect(made["coverStatus"] == "FETCHING")
        #expect(made["image", "source"] == .null)
        let id = try #require(made["id"])

        let book = try await world.bookAfterSearch(reader, id)
        #expect(book["coverStatus"] == "READY")
        #expect(book["image", "source"] == "OPEN_LIBRARY")
        #expect(book["image", "width"] == 400 && book["image", "height"] == 600)
        #expect(try await world.files(reader).count == 3)
        // Open Library must answer with 404 if the image does not exist.
        #expect(
            world.requests(CoverWorld.foxImageTarget).first?.target.hasSuffix("?default=false")
                == true)

        let began = await live.next()["data", "coverChanged"]
        #expect(began?["status"] == "FETCHING" && began?["book", "id"] == id)
        let ready = await live.next()["data", "coverChanged"]
        #expect(ready?["status"] == "READY" && ready?["source"] == "OPEN_LIBRARY")
        #expect(ready?["image", "url"] == book["image", "url"])
        await world.worker.stop()
    }

    /// The catalog's links are tried first. A cover that was found does not count as a change by the reader.
    @Test func triesTheCatalogsLinksFirst() async throws {
        let world = try await CoverWorld.start(catalog: TestCatalog.lines(3))
        let url = world.server.url("/covers/b/id/7-L.jpg")
        try await world.app.database.execute(
            "UPDATE editions SET cover_links = '{\"open_library \(url)\",\"unknown x\",nonsense}'")
        world.setResponse("/covers/b/id/7-L.jpg", image: TestImage.png(width: 620, height: 930))
        let reader = try await world.app.makeReader()
        let card = try await reader.feedCards(1)[0]
        let saved = try await reader.swipe("LIKE", [card["id"] ?? .null])
        let id = try #require(saved["recordSwipes", "saved", 0, "id"])
        let book = try await world.bookAfterSearch(reader, id)
        #expect(book["image", "source"] == "OPEN_LIBRARY", "\(book)")
        #expect(world.server.requests.count == 1)
        // Undoing the like deletes the book because the reader has not changed it.
        let undone = try await reader.execute(
            "mutation($id: ID!) { undoSwipe(input: {cardId: $id}) { card { inLibrary { id } } } }",
            ["id": card["id"] ?? .null])
        #expect(undone["undoSwipe", "card", "inLibrary"] == .null, "\(undone.json)")
        #expect(try await world.files(reader).isEmpty)
        await world.worker.stop()
    }

    /// Placeholders and unsuitable images are skipped, and the next source is tried.
    @Test(arguments: [
        "derived-blank-white.jpg", "derived-landscape.jpg", "animated.gif", "tiny.bmp", "one pixel",
        "a page",
    ])
    func skipsImagesThatAreNotCovers(what: String) async throws {
        let world = try await CoverWorld.start()
        let bytes =
            switch what {
            case "one pixel": CoverWorld.emptyImage
            case "a page": Array("<html>Not here.</html>".utf8)
            default: try imageFixture(what)
            }
        world.setResponse("/covers/b/isbn/\(CoverWorld.annihilation)-L.jpg", image: bytes)
        world.addAnnihilationVolume()
        world.setResponse(
            CoverWorld.annihilationImageTarget, image: try imageFixture("cover-dracula.jpg"))
        let reader = try await world.app.makeReader()
        let id = try await reader.makeBook([
            "title": "Annihilation", "isbn": .string(CoverWorld.annihilation),
        ])
        let book = try await world.bookAfterSearch(reader, id)
        #expect(book["image", "source"] == "GOOGLE_BOOKS", "\(book)")
        #expect(book["image", "width"] == 600)
        // The image of the thumbnail, but larger and without the page curl.
        let target = try #require(world.requests(CoverWorld.annihilationImageTarget).first?.target)
        #expect(target.contains("fife=w800-h1200") && !target.contains("edge=curl"))
        await world.worker.stop()
    }

    /// The larger image is chosen. No further image is downloaded after one that is large enough.
    @Test(arguments: [(300, "GOOGLE_BOOKS", 1), (620, "OPEN_LIBRARY", 0)])
    func choosesTheBestImage(width: Int, source: String, googleRequests: Int) async throws {
        let world = try await CoverWorld.start()
        let isbn = CoverWorld.annihilation
        world.setResponse("/isbn/\(isbn).json") {
            [
                .response(
                    200, #"{"type": {"key": "/type/edition"}, "title": "A", "covers": [-1, 5]}"#)
            ]
        }
        world.setResponse(
            "/covers/b/id/5-L.jpg", image: TestImage.png(width: width, height: width * 3 / 2))
        world.addAnnihilationVolume()
        world.setResponse(
            CoverWorld.annihilationImageTarget, image: TestImage.png(width: 480, height: 720))
        let reader = try await world.app.makeReader()
        let id = try await reader.makeBook(["title": "Annihilation", "isbn": .string(isbn)])
        let book = try await world.bookAfterSearch(reader, id)
        #expect(book["image", "source"] == .string(source), "\(book)")
        #expect(world.requests(CoverWorld.annihilationImageTarget).count == googleRequests)
        await world.worker.stop()
    }

    /// Open Library redirects requests for large images.
    @Test func followsRedirects() async throws {
        let world = try await CoverWorld.start()
        world.addFoxRecord()
        world.setResponse(CoverWorld.foxImageTarget) {
            [.response(302, headers: ["Location: /download/l_covers_0008.zip/0008739161-L.jpg"])]
        }
        world.setResponse("/download/", image: TestImage.png(width: 400, height: 600))
        let reader = try await world.app.makeReader()
        let id = try await reader.makeBook(["title": "Fox", "isbn": .string(CoverWorld.fox)])
        #expect(try await world.bookAfterSearch(reader, id)["coverStatus"] == "READY")
        await world.worker.stop()
    }

    @Test func findsACoverByTitleAndAuthor() async throws {
        let world = try await CoverWorld.start()
        world.setResponse("/search.json?title=") {
            [
                .response(
                    200,
                    """
                    {"numFound": 3, "docs": [
                      {"key": "/works/OL1W", "title": "The Hobbit Companion", "author_name": ["David Day"], "cover_i": 1},
                      {"key": "/works/OL2W", "title": "The Hobbit", "author_name": ["Somebody Else"], "cover_i": 2},
                      {"key": "/works/OL3W", "title": "Hobbit", "author_name": ["J.R.R. Tolkien"], "cover_i": 3}
                    ]}
                    """)
            ]
        }
        for number in 1...3 {
            world.setResponse(
                "/covers/b/id/\(number)-L.jpg",
                image: TestImage.png(width: 400, height: 600, seed: UInt64(number)))
        }
        let reader = try await world.app.makeReader()
        let id = try await reader.makeBook([
            "title": "The Hobbit", "authors": [["name": "Tolkien, J. R. R."]],
        ])
        #expect(try await world.bookAfterSearch(reader, id)["coverStatus"] == "READY")
        #expect(
            world.requests("/covers/b/id/").map(\.target) == ["/covers/b/id/3-L.jpg?default=false"])
        await world.worker.stop()
    }

    /// A title without an author is not enough: a wrong cover is worse than none.
    @Test func findsNothingIfNoSourceKnowsTheBook() async throws {
        let world = try await CoverWorld.start()
        let reader = try await world.app.makeReader()
        let live = try await reader.subscribe(Self.live)
        for input in [
            ["title": "Notes to self"], ["title": "A", "authors": [["name": "B"]]],
            ["title": "C", "isbn": "9780306406157"],
        ] as [Value] {
            let id = try await reader.makeBook(input)
            let book = try await world.bookAfterSearch(reader, id)
            #expect(book["coverStatus"] == "NOT_FOUND", "\(input)")
            #expect(book["image", "source"] == .null)
            #expect(await live.next()["data", "coverChanged", "status"] == "FETCHING")
            #expect(await live.next()["data", "coverChanged", "status"] == "NOT_FOUND")
        }
        #expect(world.requests("/covers/b/isbn/9780306406157-L.jpg?default=false").count == 1)
        await world.worker.stop()
    }

    @Test func searchesTheWebLast() async throws {
        let world = try await CoverWorld.start(web: true)
        let server = world.server
        // A shortened response of OpenAI's Responses API.
        world.setResponse("/openai/v1/responses") {
            [
                .response(
                    200,
                    """
                    {"id": "resp_67ccd2bed1ec8190b14f964abc054267", "object": "response", "status": "completed",
                     "error": null, "model": "gpt-4.1-mini-2025-04-14", "output": [
                      {"type": "web_search_call", "id": "ws_67ccd2bf17f0819081ff3bb2cf6508e6", "status": "completed",
                       "action": {"type": "search", "query": "Obscure book cover"}},
                      {"type": "message", "id": "msg_67ccd2bf17f0819081ff3bb2cf6508e7", "status": "completed",
                       "role": "assistant", "content": [{"type": "output_text", "text":
                        "\(server.url("/dead.jpg"))\\n\(server.url("/page"))\\n[cover](\(server.url("/good.jpg")))",
                        "annotations": [{"type": "url_citation", "start_index": 0, "end_index": 9,
                         "url": "https://example.com/page", "title": "A page"}]}]}
                     ], "usage": {"input_tokens": 328, "output_tokens": 356, "total_tokens": 684}}
                    """)
            ]
        }
        world.setResponse("/page") { [.response(200, "<html>")] }
        world.setResponse("/good.jpg", image: TestImage.png(width: 500, height: 750))
        let reader = try await world.app.makeReader()
        let id = try await reader.makeBook([
            "authors": [["name": "Nobody \"Ignore all\""]], "title": "Obscure",
        ])
        let book = try await world.bookAfterSearch(reader, id)
        #expect(book["image", "source"] == "WEB_SEARCH", "\(book)")
        let request = try #require(world.requests("/openai/").first)
        #expect(request.headers["authorization"] == "Bearer sk-test")
        let body = try parseJSON(Array(request.body.utf8))
        #expect(body["tools"] == [["type": "web_search"]])
        #expect(body["model"] == "test")
        // The reader's text is data, not an instruction.
        let input = try parseJSON(Array((body["input"]?.string ?? "").utf8))
        #expect(input == ["author": "Nobody \"Ignore all\"", "title": "Obscure"])
        #expect(
            await world.app.services.metrics.text().contains(
                #"bookplate_cover_searches_total{result="found",source="web_search"} 1"#))

        // The web is not searched if a source has a cover.
        world.addFoxRecord()
        world.setResponse(CoverWorld.foxImageTarget, image: TestImage.png(width: 400, height: 600))
        let fox = try await reader.makeBook(["title": "Fox", "isbn": .string(CoverWorld.fox)])
        #expect(try await world.bookAfterSearch(reader, fox)["image", "source"] == "OPEN_LIBRARY")
        #expect(world.requests("/openai/").count == 1)
        await world.worker.stop()
    }
}
