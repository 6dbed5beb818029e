import Glibc
import GraphQL
import TestSupport
import Testing

/// The pages of links over HTTP and in a browser.
@Suite struct SharedPageTests {
    /// A library with a link of each kind.
    private struct Fixture {
        let server: RunningServer
        /// The public URL of the server.
        let publicURL: String
        let token: String
        /// The URLs by the kind of the object.
        var urls: [String: String] = [:]

        func execute(_ query: String, _ variables: Value = .null) async throws -> Value {
            let response = try await server.client.execute(query, variables, token: token)
            return try #require(response["data"], "\(response)")
        }

        func share(_ item: Value) async throws -> (id: String, url: String) {
            let link = try await execute(
                "mutation($item: SharedItemInput!) { createSharedLink(input: {item: $item, showsName: true}) { id url } }",
                ["item": item])
            return (
                try #require(link["createSharedLink", "id"]?.string, "\(link)"),
                try #require(link["createSharedLink", "url"]?.string)
            )
        }
    }

    /// Titles and texts in several scripts, the first book with a cover.
    private static let fixture = Shared {
        let port = try freePort()
        let url = "http://localhost:\(port)"
        let server = try await Installation.ready(catalog: []).startServer([
            "BOOKPLATE_PORT": "\(port)", "BOOKPLATE_PUBLIC_URL": url,
        ])
        let session = try await server.signIn("shared.reader")
        var fixture = Fixture(
            server: server, publicURL: url, token: try #require(session["accessToken"]?.string))
        _ = try await fixture.execute(
            "mutation { updateProfile(input: {displayName: \"ליאת\"}) { id } }")
        let shelf = try #require(
            try await fixture.execute(
                "mutation { createShelf(input: {name: \"Books for a long summer\"}) { id } }")[
                    "createShelf", "id"])
        var books: [Value] = []
        for (title, author) in [
            ("The Left Hand of Darkness", "Ursula K. Le Guin"), ("ألف ليلة وليلة", "مجهول"),
            ("Kindred", "Octavia E. Butler"), ("吾輩は猫である", "夏目漱石"),
            ("Donaudampfschifffahrtsgesellschaftskapitän", "<b>Nobody</b> & Others"),
        ] {
            let created = try await fixture.execute(
                "mutation($input: CreateBookInput!) { createBook(input: $input) { id } }",
                [
                    "input": [
                        "title": .string(title), "authors": [["name": .string(author)]],
                        "status": "READ", "shelfIds": [shelf], "pageCount": 320,
                    ]
                ])
            books.append(try #require(created["createBook", "id"]))
        }
        for (index, book) in books.enumerated() {
            _ = try await fixture.execute(
                "mutation($book: ID!, $day: PartialDate!) { startRead(id: $book, input: {finishedOn: $day}) { id } }",
                ["book": book, "day": .string("2024-0\(index * 2 + 1)-11")])
        }
        let operations = """
            {"query":"mutation($image: Upload!) { setCover(id: \\"\(books[0].string ?? "")\\", input: {image: $image}) \
            { id } }","variables":{"image":null}}
            """
        let upload = try await server.client.upload(
            TestImage.png(width: 400, height: 600), operations: Array(operations.utf8),
            map: #"{"0":["variables.image"]}"#, token: fixture.token,
            headers: ["graphql-preflight": "1"])
        #expect(upload.json["data", "setCover", "id"] == books[0], "\(upload.body)")
        let review = try await fixture.execute(
            """
            mutation($book: ID!) {
              reviewBook(id: $book, input: {rating: 5, text: "It keeps opening.\\n\\nالنهاية مدهشة"}) { id }
            }
            """, ["book": books[0]])
        let note = try await fixture.execute(
            """
            mutation($book: ID!) {
              createNote(input: {bookId: $book, text: "It is good to have an end to journey toward.", comment: "Yes.", page: 220}) { id }
            }
            """, ["book": books[0]])
        for (kind, item) in [
            ("shelf", ["shelfId": shelf]),
            ("review", ["reviewId": review["reviewBook", "id"] ?? .null]),
            ("note", ["noteId": note["createNote", "id"] ?? .null]), ("year", ["year": 2024]),
        ] as [(String, Value)] {
            fixture.urls[kind] = try await fixture.share(item).url
        }
        return fixture
    }

    private static func path(_ url: String) -> String {
        String(url.firstRange(of: "/s/").map { url[$0.lowerBound...] } ?? "")
    }

    /// All pages on a phone and on a large screen, in both color schemes.
    @Test(arguments: ["shelf", "review", "note", "year", "missing"])
    func pageIsAccessible(kind: String) async throws {
        let axe = try await PythonEnvironment.axe()
        let fixture = try await Self.fixture()
        let url = fixture.urls[kind] ?? "\(fixture.publicURL)/s/missing"
        let folder = try Program.makeFolder()
        try await blocking {
            let browser = try Browser(folder: folder)
            try browser.open(url)
            // With the page's own policy, its style and its covers are loaded, and nothing is refused.
            #expect(
                try browser.evaluate("getComputedStyle(document.querySelector('main')).maxWidth")
                    == "960px")
            if kind != "missing" {
                try browser.wait("[...document.images].length === 1")
                try browser.wait("[...document.images].every((image) => image.naturalWidth > 0)")
                #expect(browser.errors.filter { !$0.contains("favicon") } == [])
            }
            #expect(try browser.evaluate("document.scripts.length") == 0)
            #expect(try browser.evaluate("document.cookie") == "")
            try browser.call("Page.setBypassCSP", ["enabled": true])
            for (width, height) in [(390, 844), (1280, 900)] {
                try browser.setScreen(width: width, height: height)
                try browser.open(url)
                try browser.evaluate(axe)
                for scheme in ["light", "dark"] {
                    try browser.call(
                        "Emulation.setEmulatedMedia",
                        [
                            "features": [
                                ["name": "prefers-color-scheme", "value": .string(scheme)]
                            ]
                        ])
                    #expect(
                        try OAuthPageTests.violations(browser) == [], "\(kind) \(width) \(scheme)")
                    try browser.screenshot("shared-\(kind)-\(width)-\(scheme)")
                }
                #expect(
                    try browser.evaluate("document.documentElement.scrollWidth <= innerWidth")
                        == true)
            }
        }
    }

    /// The page has the same content as the API, and ends at once.
    @Test func linkWorksOverHTTPUntilItIsRevoked() async throws {
        let fixture = try await Self.fixture()
        let (id, url) = try await fixture.share(["year": 2024])
        #expect(url.hasPrefix("\(fixture.publicURL)/s/"))
        let client = fixture.server.client
        let page = try await client.send("GET", Self.path(url))
        #expect(page.status == 200)
        #expect(page.headers["content-type"] == "text/html; charset=utf-8")
        #expect(page.headers["x-content-type-options"] == "nosniff")
        #expect(page.headers["set-cookie"] == nil)
        let etag = try #require(page.headers["etag"])
        let again = try await client.send("GET", Self.path(url), headers: ["if-none-match": etag])
        #expect(again.status == 304 && again.bytes.isEmpty)
        let head = try await client.send("HEAD", Self.path(url))
        #expect(head.status == 200 && head.bytes.isEmpty)
        let source = try #require(page.body.firstMatch(of: /src="([^"]+)"/)?.1)
        let cover = try await client.send("GET", Self.path(String(source)))
        #expect(cover.status == 200 && cover.headers["content-type"] == "image/jpeg")
        #expect(cover.bytes.starts(with: [0xFF, 0xD8, 0xFF]))
        let token = String(Self.path(url).dropFirst(3))
        let query = "query($token: String!) { shared(token: $token) { title } }"
        let shared = try await client.execute(query, ["token": .string(token)])
        #expect(shared["data", "shared", "title"] == "2024")
        _ = try await fixture.execute(
            "mutation($id: ID!) { revokeSharedLink(id: $id) { id } }", ["id": .string(id)])
        for path in [Self.path(url), Self.path(String(source))] {
            let ended = try await client.send("GET", path, headers: ["if-none-match": etag])
            #expect(ended.status == 404 && ended.headers["cache-control"] == "no-store")
        }
        let missing = try await client.execute(query, ["token": .string(token)])
        #expect(missing["errors", 0, "extensions", "code"] == "NOT_FOUND")
    }

    /// The operator ends all links of a tenant.
    @Test func operatorSwitchesSharingOff() async throws {
        let installation = try await Installation.ready(catalog: [])
        let server = try await installation.startServer()
        let session = try await server.signIn("shared.off")
        let fixture = Fixture(
            server: server, publicURL: "", token: try #require(session["accessToken"]?.string))
        let path = Self.path(try await fixture.share(["year": 2024]).url)
        for (setting, status) in [("off", 404), ("on", 200)] {
            let outcome = try await installation.admin([
                "tenant", "update", "reader", "--sharing", setting,
            ])
            #expect(outcome.code == 0, "\(outcome.errors)")
            #expect(try await server.client.send("GET", path).status == status)
        }
    }
}
