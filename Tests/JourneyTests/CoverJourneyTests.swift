import GraphQL
import TestSupport
import Testing

/// Covers over HTTP, as an app and a browser use them.
@Suite struct CoverJourneyTests {
    private struct Desk {
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

    private func desk() async throws -> Desk {
        let server = try await Self.server()
        let session = try await server.signIn("covers.\(UInt64.random(in: 0...UInt64.max))")
        let token = try #require(session["accessToken"]?.string)
        let made = try await server.client.execute(
            #"mutation { createBook(input: {title: "Dune", author: "Frank Herbert"}) { id } }"#,
            token: token)
        return Desk(
            server: server, user: try #require(session["user", "id"]?.string), token: token,
            book: try #require(made["data", "createBook", "id"]?.string))
    }

    /// The path and query of an address that the server told.
    private func target(_ url: Value?) throws -> String {
        let url = try #require(url?.string)
        let start = try #require(url.firstRange(of: "://")?.upperBound)
        return String(url[start...].drop { $0 != "/" })
    }

    // MARK: - Uploads

    private func multipart(
        _ desk: Desk, _ file: [UInt8], headers: [String: String] = ["graphql-preflight": "1"],
        token: String? = nil, map: String = #"{"0":["variables.image"]}"#
    ) async throws -> HTTPClient.Response {
        let operations = """
            {"query":"mutation($book: ID!, $image: Upload!) { setCover(bookId: $book, source: {image: $image}) \
            { coverUrl cover { width } } }","variables":{"book":"\(desk.book)","image":null}}
            """
        return try await desk.server.client.upload(
            file, operations: Array(operations.utf8), map: map, token: token ?? desk.token,
            headers: headers)
    }

    @Test func aFileComesWithAGraphQLRequest() async throws {
        let desk = try await desk()
        let response = try await multipart(desk, TestImage.png())
        #expect(response.status == 200, "\(response.body)")
        #expect(response.json["data", "setCover", "cover", "width"] == 60)
        let cover = try await desk.server.client.send(
            "GET", try target(response.json["data", "setCover", "coverUrl"]))
        #expect(cover.status == 200)
        #expect(cover.bytes.starts(with: [0xFF, 0xD8, 0xFF]))
    }

    @Test func aFileOfMoreThanAMegabyteComes() async throws {
        let desk = try await desk()
        let image = TestImage.png(width: 900, height: 900)
        #expect(image.count > 2 << 20)
        #expect(try await multipart(desk, image).json["data", "setCover", "cover", "width"] == 600)
    }

    /// Before the file is read.
    @Test func formsOfOtherPagesAndOfNobodyAreRefused() async throws {
        let desk = try await desk()
        let form = try await multipart(desk, TestImage.png(), headers: [:])
        #expect(form.status == 400)
        #expect(form.json["errors", 0, "message"]?.string?.contains("GraphQL-Preflight") == true)
        let nobody = try await multipart(desk, TestImage.png(), token: "x.y.z")
        #expect(nobody.status == 401)
        #expect(nobody.json["errors", 0, "extensions", "code"] == "UNAUTHENTICATED")
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"0":"variables.image"}"#, #"{"0":["variables.book"]}"#,
        #"{"0":["variables.nothing"]}"#, #"{"0":["query"]}"#, #"{"1":["variables.image"]}"#,
        #"{"0":["variables.image","variables.image"]}"#,
    ])
    func aMapHasToLeadToANull(map: String) async throws {
        let response = try await multipart(try await desk(), TestImage.png(), map: map)
        #expect(response.json["errors", 0, "message"] != nil, "\(response.body)")
        #expect(response.json["data", "setCover"] == nil)
    }

    // MARK: - Plain addresses

    @Test func theOwnerPutsAndDeletes() async throws {
        let desk = try await desk()
        let client = desk.server.client
        let put = try await client.send(
            "PUT", desk.path, token: desk.token, bytes: TestImage.png())
        #expect(put.status == 201, "\(put.body)")
        #expect(put.headers["location"] == put.json["url"]?.string)
        #expect(
            try await client.send("PUT", desk.path, token: desk.token, bytes: TestImage.png())
                .status == 200)
        let read = try await client.send("GET", desk.path)
        #expect(read.status == 200)
        #expect(read.headers["cache-control"] == "public, max-age=300, stale-while-revalidate=30")
        // Asked for again and again it is served from memory, and is gone with the rest all the same.
        for _ in 0..<3 {
            #expect(try await client.send("GET", try target(put.json["url"])).status == 200)
        }
        for _ in 0..<2 {
            #expect(
                try await client.send("DELETE", desk.path, token: desk.token).status == 204)
        }
        #expect(try await client.send("GET", desk.path).status == 404)
        #expect(try await client.send("GET", try target(put.json["url"])).status == 404)
    }

    @Test func nobodyElseWrites() async throws {
        let (mine, theirs) = (try await desk(), try await desk())
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
            // Somebody else's book in one's own folder is as none.
            #expect(
                try await status("/book-covers/\(mine.user)/\(theirs.book).jpg", mine.token) == 404)
            #expect(
                try await status("/title-cards/\(mine.user)/\(mine.book).jpg", mine.token) == 405)
        }
        #expect(try await client.send("GET", theirs.path).bytes == before.bytes)
    }

    @Test func limitsAreToldBeforeTheBodyIsRead() async throws {
        let desk = try await desk()
        let headers = ["content-length": "\(25 << 20 | 1)"]
        let tooLarge = try await desk.server.client.send(
            "PUT", desk.path, token: desk.token, headers: headers)
        #expect(tooLarge.status == 413)
        let nobody = try await desk.server.client.send("PUT", desk.path, headers: headers)
        #expect(nobody.status == 401)
        let bad = try await desk.server.client.send(
            "PUT", desk.path, token: desk.token, bytes: Array("<svg/>".utf8))
        #expect(bad.status == 415)
        #expect(bad.json["errors", 0, "extensions", "code"] == "UNSUPPORTED_IMAGE")
    }

    @Test func addressesWithAVersionLastForEver() async throws {
        let desk = try await desk()
        let client = desk.server.client
        let url = try target(
            try await client.send("PUT", desk.path, token: desk.token, bytes: TestImage.png())
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
        // A version that is no more shows what there is, for a short while.
        let other = try await client.send(
            "GET", desk.path + "?v=00000000000000000000000000000000")
        #expect(other.headers["cache-control"]?.hasPrefix("public, max-age=300") == true)
    }

    @Test(arguments: [
        ("bytes=0-9", 206, 0..<10), ("bytes=10-10", 206, 10..<11), ("bytes=-5", 206, -5..<0),
        ("bytes=3-", 206, 3..<Int.max), ("bytes=0-99999999", 206, 0..<Int.max),
        ("bytes=99999999-", 416, 0..<0), ("bytes=-0", 416, 0..<0),
        ("bytes=0-1,3-4", 200, 0..<Int.max), ("bytes=5-2", 200, 0..<Int.max),
        ("bytes=a-b", 200, 0..<Int.max), ("lines=0-1", 200, 0..<Int.max),
    ])
    func oneRangeIsServed(range: String, status: Int, expected: Range<Int>) async throws {
        let desk = try await desk()
        let client = desk.server.client
        _ = try await client.send("PUT", desk.path, token: desk.token, bytes: TestImage.png())
        let whole = try await client.send("GET", desk.path).bytes
        let part = try await client.send("GET", desk.path, headers: ["range": range])
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
            "GET", desk.path, headers: ["range": range, "if-range": "\"x\""])
        #expect(stale.status == 200)
    }

    @Test func otherPathsAreNothing() async throws {
        let desk = try await desk()
        let client = desk.server.client
        _ = try await client.send("PUT", desk.path, token: desk.token, bytes: TestImage.png())
        let (user, book) = (desk.user, desk.book)
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

    @Test func booksWithoutAPictureGetATitleCard() async throws {
        let desk = try await desk()
        let client = desk.server.client
        let response = try await client.execute(
            """
            { me { books { nodes { coverUrl coverStatus } } } feed(first: 1) { nodes { coverUrl } } }
            """, token: desk.token)
        let book = response["data", "me", "books", "nodes", 0]
        #expect(book?["coverStatus"] == "NONE")
        for url in [book?["coverUrl"], response["data", "feed", "nodes", 0, "coverUrl"]] {
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
            try await client.send("GET", "/title-cards/\(desk.user)/\(desk.user).jpg").status == 404
        )
        _ = try await client.execute(
            "mutation($id: ID!) { deleteBook(id: $id) }", ["id": .string(desk.book)],
            token: desk.token)
        #expect(try await client.send("GET", try target(book?["coverUrl"])).status == 404)
    }
}
