import Glibc
import GraphQL
import TestSupport
import Testing

/// Covers over HTTP: uploading, reading, and caching.
@Suite struct CoverJourneyTests {
    private struct Fixture {
        let server: RunningServer
        let user: String
        let token: String
        let book: String

        var path: String { "/book-covers/\(user)/\(book).jpg" }
    }

    private static let installation = Shared {
        try await Installation.ready(catalog: TestCatalog.lines(2))
    }
    private static let server = Shared { try await Self.installation().startServer() }

    private func makeFixture(_ server: RunningServer? = nil) async throws -> Fixture {
        let server = if let server { server } else { try await Self.server() }
        let session = try await server.signIn("covers.\(UInt64.random(in: 0...UInt64.max))")
        let token = try #require(session["accessToken"]?.string)
        let created = try await server.client.execute(
            #"mutation { createBook(input: {title: "Dune", authors: [{name: "Frank Herbert"}]}) { id } }"#,
            token: token)
        return Fixture(
            server: server, user: try #require(session["user", "id"]?.string), token: token,
            book: try #require(created["data", "createBook", "id"]?.string))
    }

    /// The path and query of a URL that the server returned.
    private func target(_ url: Value?) throws -> String {
        let url = try #require(url?.string)
        let start = try #require(url.firstRange(of: "://")?.upperBound)
        return String(url[start...].drop { $0 != "/" })
    }

    // MARK: - Uploads

    private func multipart(
        _ fixture: Fixture, _ file: [UInt8], headers: [String: String] = ["graphql-preflight": "1"],
        token: String? = nil, map: String = #"{"0":["variables.image"]}"#
    ) async throws -> HTTPClient.Response {
        let operations = """
            {"query":"mutation($book: ID!, $image: Upload!) { setCover(id: $book, input: {image: $image}) \
            { image { url width } } }","variables":{"book":"\(fixture.book)","image":null}}
            """
        return try await fixture.server.client.upload(
            file, operations: Array(operations.utf8), map: map, token: token ?? fixture.token,
            headers: headers)
    }

    /// A full disk is a problem of the server, not of the reader's quota.
    @Test(.enabled(if: geteuid() == 0 || access("/proc/self/ns/user", F_OK) == 0))
    func aFullDiskIsReportedAsUnavailable() async throws {
        let installation = try await Installation.ready(catalog: [])
        let folder = "\(installation.folder)/objects"
        mkdir(folder, 0o755)
        let server = try await installation.startServer(
            ["BOOKPLATE_STORAGE": "file:\(folder)"],
            by: Installation.mounting("4k", on: folder))
        let fixture = try await makeFixture(server)
        let error = try await multipart(fixture, TestImage.png()).json["errors", 0]
        #expect(
            error?["extensions", "code"] == "SERVICE_UNAVAILABLE", "\(String(describing: error))")
        #expect(error?["extensions", "outcome"] == "NOT_DONE")
        #expect(error?["message"]?.string?.contains("cannot store files now") == true)
        let put = try await server.client.send(
            "PUT", fixture.path, token: fixture.token, bytes: TestImage.png(),
            headers: ["content-type": "image/png"])
        #expect(put.status == 503)
        #expect(put.headers["retry-after"] == "300")
    }

    @Test func coversAreUploadedWithAMultipartRequest() async throws {
        let fixture = try await makeFixture()
        let response = try await multipart(fixture, TestImage.png())
        #expect(response.status == 200, "\(response.body)")
        #expect(response.json["data", "setCover", "image", "width"] == 60)
        let cover = try await fixture.server.client.send(
            "GET", try target(response.json["data", "setCover", "image", "url"]))
        #expect(cover.status == 200)
        #expect(cover.bytes.starts(with: [0xFF, 0xD8, 0xFF]))
    }

    @Test func largeImagesAreUploadedAndScaledDown() async throws {
        let fixture = try await makeFixture()
        let image = TestImage.png(width: 900, height: 900)
        #expect(image.count > 2 << 20)
        #expect(
            try await multipart(fixture, image).json["data", "setCover", "image", "width"] == 600)
    }

    /// Apollo's clients send the last one with each operation.
    @Test(arguments: ["GraphQL-Preflight", "Apollo-Require-Preflight", "X-APOLLO-OPERATION-NAME"])
    func eachHeaderWithAPreflightAllowsUploads(header: String) async throws {
        let response = try await multipart(
            try await makeFixture(), TestImage.png(), headers: [header: "SetCover"])
        #expect(response.json["data", "setCover", "image"] != nil, "\(response.body)")
    }

    /// The server refuses these requests before it reads the file.
    @Test func uploadsWithoutThePreflightHeaderOrAValidTokenAreRefused() async throws {
        let fixture = try await makeFixture()
        let form = try await multipart(fixture, TestImage.png(), headers: [:])
        #expect(form.status == 400)
        #expect(form.json["errors", 0, "message"]?.string?.contains("GraphQL-Preflight") == true)
        let anonymous = try await multipart(fixture, TestImage.png(), token: "x.y.z")
        #expect(anonymous.status == 401)
        #expect(anonymous.json["errors", 0, "extensions", "code"] == "UNAUTHENTICATED")
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"0":"variables.image"}"#, #"{"0":["variables.book"]}"#,
        #"{"0":["variables.nothing"]}"#, #"{"0":["query"]}"#, #"{"1":["variables.image"]}"#,
        #"{"0":["variables.image","variables.image"]}"#,
    ])
    func theMapMustReferToANullVariable(map: String) async throws {
        let response = try await multipart(try await makeFixture(), TestImage.png(), map: map)
        #expect(response.json["errors", 0, "message"] != nil, "\(response.body)")
        #expect(response.json["data", "setCover"] == nil)
    }

    // MARK: - Plain HTTP

    @Test func theOwnerStoresAndDeletesACover() async throws {
        let fixture = try await makeFixture()
        let client = fixture.server.client
        let put = try await client.send(
            "PUT", fixture.path, token: fixture.token, bytes: TestImage.png())
        #expect(put.status == 201, "\(put.body)")
        #expect(put.headers["location"] == put.json["url"]?.string)
        #expect(
            try await client.send("PUT", fixture.path, token: fixture.token, bytes: TestImage.png())
                .status == 200)
        let read = try await client.send("GET", fixture.path)
        #expect(read.status == 200)
        #expect(read.headers["cache-control"] == "public, max-age=300, stale-while-revalidate=30")
        // Repeated requests fill the memory cache, which must not outlive the deletion.
        for _ in 0..<3 {
            #expect(try await client.send("GET", try target(put.json["url"])).status == 200)
        }
        for _ in 0..<2 {
            #expect(
                try await client.send("DELETE", fixture.path, token: fixture.token).status == 204)
        }
        #expect(try await client.send("GET", fixture.path).status == 404)
        #expect(try await client.send("GET", try target(put.json["url"])).status == 404)
    }

    @Test func otherUsersCannotWrite() async throws {
        let (mine, theirs) = (try await makeFixture(), try await makeFixture())
        let client = mine.server.client
        #expect(
            try await client.send("PUT", theirs.path, token: theirs.token, bytes: TestImage.png())
                .status == 201)
        let before = try await client.send("GET", theirs.path)
        for method in ["PUT", "DELETE"] {
            func status(_ path: String, _ token: String?) async throws -> Int {
                let body = method == "PUT" ? TestImage.png(seed: 9) : []
                return try await client.send(method, path, token: token, bytes: body).status
            }
            #expect(try await status(theirs.path, mine.token) == 403)
            #expect(try await status(theirs.path, nil) == 401)
            #expect(try await status(theirs.path, "x") == 401)
            // A path of the caller's own user id with another user's book does not exist.
            #expect(
                try await status("/book-covers/\(mine.user)/\(theirs.book).jpg", mine.token) == 404)
            #expect(
                try await status("/title-cards/\(mine.user)/\(mine.book).jpg", mine.token) == 405)
        }
        #expect(try await client.send("GET", theirs.path).bytes == before.bytes)
    }

    @Test func uploadsAreRefusedBeforeTheBodyIsRead() async throws {
        let fixture = try await makeFixture()
        let headers = ["content-length": "\(25 << 20 | 1)"]
        let tooLarge = try await fixture.server.client.send(
            "PUT", fixture.path, token: fixture.token, headers: headers)
        #expect(tooLarge.status == 413)
        let anonymous = try await fixture.server.client.send("PUT", fixture.path, headers: headers)
        #expect(anonymous.status == 401)
        let bad = try await fixture.server.client.send(
            "PUT", fixture.path, token: fixture.token, bytes: Array("<svg/>".utf8))
        #expect(bad.status == 415)
        #expect(bad.json["errors", 0, "extensions", "code"] == "UNSUPPORTED_IMAGE")
    }

    @Test func versionedURLsAreImmutable() async throws {
        let fixture = try await makeFixture()
        let client = fixture.server.client
        let url = try target(
            try await client.send("PUT", fixture.path, token: fixture.token, bytes: TestImage.png())
                .json["url"])
        let whole = try await client.send("GET", url)
        #expect(whole.headers["cache-control"] == "public, max-age=31536000, immutable")
        #expect(whole.headers["content-type"] == "image/jpeg")
        #expect(whole.headers["x-content-type-options"] == "nosniff")
        #expect(whole.headers["content-security-policy"] == "default-src 'none'; sandbox")
        let tag = try #require(whole.headers["etag"])
        for known in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
            let same = try await client.send("GET", url, headers: ["if-none-match": known])
            #expect(same.status == 304 && same.bytes.isEmpty)
            #expect(same.headers["etag"] == tag)
        }
        #expect(
            try await client.send("GET", url, headers: ["if-none-match": "\"x\""]).status == 200)
        let head = try await client.send("HEAD", url)
        #expect(head.headers["content-length"] == "\(whole.bytes.count)" && head.bytes.isEmpty)
        let small = try await client.send("GET", url + "&size=thumbnail")
        #expect(small.status == 200 && small.headers["etag"] != tag)
        #expect(try await client.send("GET", url + "&size=huge").status == 400)
    }

    /// Clients cache a URL with a version for ever, so it never shows another image.
    @Test(arguments: ["00000000000000000000000000000000", "", "x", "../../x"])
    func unknownVersionsAreNotFound(version: String) async throws {
        let fixture = try await makeFixture()
        let client = fixture.server.client
        _ = try await client.send("PUT", fixture.path, token: fixture.token, bytes: TestImage.png())
        let card = try await client.execute(
            "{ feed(first: 1) { nodes { id } } }", token: fixture.token)
        let edition = try #require(card["data", "feed", "nodes", 0, "id"]?.string)
        for path in [
            fixture.path, "/title-cards/\(fixture.user)/\(fixture.book).jpg",
            "/title-cards/\(edition).jpg", "/edition-covers/\(edition).jpg",
        ] {
            let current = try await client.send("GET", path)
            #expect(current.status == (path.contains("edition-covers") ? 404 : 200), "\(path)")
            for query in ["?v=\(version)", "?size=thumbnail&v=\(version)"] {
                #expect(try await client.send("GET", path + query).status == 404, "\(path)\(query)")
            }
        }
    }

    @Test func replacedCoverIsNotFound() async throws {
        let fixture = try await makeFixture()
        let client = fixture.server.client
        var urls: [String] = []
        for seed in 1...3 as ClosedRange<UInt64> {
            let put = try await client.send(
                "PUT", fixture.path, token: fixture.token, bytes: TestImage.png(seed: seed))
            let url = try target(put.json["url"])
            // Fills the memory cache.
            for _ in 0..<2 { #expect(try await client.send("GET", url).status == 200) }
            urls.append(url)
        }
        #expect(Set(urls).count == 3)
        for url in urls.dropLast() {
            for size in ["", "&size=thumbnail", "&size=large"] {
                #expect(try await client.send("GET", url + size).status == 404)
            }
        }
        #expect(try await client.send("GET", urls[2]).status == 200)
    }

    /// The URL of an old title card shows the old title if it was ever drawn. Otherwise it is not found.
    @Test func oldTitleCardsNeverShowTheNewTitle() async throws {
        let fixture = try await makeFixture()
        let client = fixture.server.client
        func rename(_ title: String) async throws -> String {
            let changed = try await client.execute(
                """
                mutation($id: ID!, $title: String) {
                  updateBook(id: $id, input: {title: $title}) { image { url kind } }
                }
                """, ["id": .string(fixture.book), "title": .string(title)], token: fixture.token)
            let image = changed["data", "updateBook", "image"]
            #expect(image?["kind"] == "TITLE_CARD")
            return try target(image?["url"])
        }
        let first = try await rename("Dune")
        let drawn = try await client.send("GET", first)
        #expect(drawn.status == 200)
        let second = try await rename("Solaris")
        let third = try await rename("Emma")
        #expect(Set([first, second, third]).count == 3)
        let old = try await client.send("GET", first)
        #expect(old.status == 200 && old.bytes == drawn.bytes)
        for size in ["", "&size=thumbnail", "&size=large"] {
            #expect(try await client.send("GET", second + size).status == 404)
        }
        let new = try await client.send("GET", third)
        #expect(new.status == 200 && new.bytes != drawn.bytes)
        #expect(new.headers["cache-control"] == "public, max-age=31536000, immutable")
        // A title that returns has its old URL again.
        #expect(try await rename("Solaris") == second)
        #expect(try await client.send("GET", second).status == 200)
    }

    @Test(arguments: [
        ("bytes=0-9", 206, 0..<10), ("bytes=10-10", 206, 10..<11), ("bytes=-5", 206, -5..<0),
        ("bytes=3-", 206, 3..<Int.max), ("bytes=0-99999999", 206, 0..<Int.max),
        ("bytes=99999999-", 416, 0..<0), ("bytes=-0", 416, 0..<0),
        ("bytes=0-1,3-4", 200, 0..<Int.max), ("bytes=5-2", 200, 0..<Int.max),
        ("bytes=a-b", 200, 0..<Int.max), ("lines=0-1", 200, 0..<Int.max),
    ])
    func singleRangesAreSupported(range: String, status: Int, expected: Range<Int>) async throws {
        let fixture = try await makeFixture()
        let client = fixture.server.client
        _ = try await client.send("PUT", fixture.path, token: fixture.token, bytes: TestImage.png())
        let whole = try await client.send("GET", fixture.path).bytes
        let part = try await client.send("GET", fixture.path, headers: ["range": range])
        #expect(part.status == status)
        guard status != 416 else {
            #expect(part.headers["content-range"] == "bytes */\(whole.count)")
            return
        }
        let start =
            expected.lowerBound < 0 ? whole.count + expected.lowerBound : expected.lowerBound
        let end = expected.upperBound <= 0 ? whole.count : min(expected.upperBound, whole.count)
        #expect(part.bytes == Array(whole[start..<end]))
        if status == 206 {
            #expect(part.headers["content-range"] == "bytes \(start)-\(end - 1)/\(whole.count)")
        }
        let stale = try await client.send(
            "GET", fixture.path, headers: ["range": range, "if-range": "\"x\""])
        #expect(stale.status == 200)
    }

    @Test func otherPathsAreNotFound() async throws {
        let fixture = try await makeFixture()
        let client = fixture.server.client
        _ = try await client.send("PUT", fixture.path, token: fixture.token, bytes: TestImage.png())
        let (user, book) = (fixture.user, fixture.book)
        for path in [
            "/book-covers/", "/book-covers", "/book-covers/\(user)/\(book)",
            "/book-covers/\(user)/\(book).jpeg", "/book-covers/\(user.uppercased())/\(book).jpg",
            "/book-covers/\(user)/%2e%2e/\(book).jpg", "/book-covers/\(user)//\(book).jpg",
            "/book-covers/../book-covers/\(user)/\(book).jpg", "/book-covers/\(book).jpg",
            "/book-covers/\(user)/\(book).jpg/", "/book-covers/\(user)/\(book)%2ejpg",
            "/book-covers/\(user)/.staging.jpg", "/.staging/\(user)/\(book).jpg",
        ] {
            #expect(try await client.send("GET", path).status == 404, "\(path)")
        }
    }

    @Test func booksWithoutACoverGetATitleCard() async throws {
        let fixture = try await makeFixture()
        let client = fixture.server.client
        let response = try await client.execute(
            """
            { me { books { nodes { image { url } coverStatus } } } feed(first: 1) { nodes { image { url } } } }
            """, token: fixture.token)
        let book = response["data", "me", "books", "nodes", 0]
        #expect(book?["coverStatus"] == "NO_COVER")
        for url in [book?["image", "url"], response["data", "feed", "nodes", 0, "image", "url"]] {
            let target = try target(url)
            let cards = try await withThrowingTaskGroup(of: HTTPClient.Response.self) { tasks in
                for _ in 0..<3 { tasks.addTask { try await client.send("GET", target) } }
                return try await tasks.reduce(into: []) { $0.append($1) }
            }
            #expect(cards.allSatisfy { $0.status == 200 && $0.bytes == cards[0].bytes })
            #expect(cards[0].bytes.starts(with: [0xFF, 0xD8, 0xFF]))
            #expect(
                cards[0].headers["cache-control"] == "public, max-age=31536000, immutable")
            let small = try await client.send("GET", target + "&size=thumbnail")
            #expect(small.status == 200 && small.bytes.count < cards[0].bytes.count)
            let path = String(target.prefix { $0 != "?" })
            #expect(
                try await client.send("GET", path).headers["cache-control"]?
                    .hasPrefix("public, max-age=300") == true)
        }
        #expect(
            try await client.send("GET", "/title-cards/\(fixture.user)/\(fixture.user).jpg").status
                == 404
        )
        _ = try await client.execute(
            "mutation($id: ID!) { deleteBook(id: $id) { id } }", ["id": .string(fixture.book)],
            token: fixture.token)
        #expect(try await client.send("GET", try target(book?["image", "url"])).status == 404)
    }
}
