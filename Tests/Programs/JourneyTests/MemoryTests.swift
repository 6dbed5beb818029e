import Basics
import Glibc
import GraphQL
import TestBasics
import TestSupport
import Testing
import Zip

/// The memory of the server while clients request much more than one response may contain.
@Suite struct MemoryTests {
    private static let clientCount = 6
    /// Each list has 10 MB of rows.
    private static let listCount = 30
    private static let megabyte = 1 << 20

    /// Six clients would need 1.8 GB if the rows that one operation loads were not limited. The limit is 16 MiB per
    /// operation, plus the result that exceeds it.
    ///
    /// AddressSanitizer keeps freed memory, so the test is skipped with it.
    @Test(.enabled(if: getenv("ASAN_OPTIONS") == nil))
    func rowsThatNoResponseCanContainAreNotLoaded() async throws {
        let installation = try await Installation.ready(catalog: [])
        let server = try await installation.startServer()
        let session = try await server.signIn("collector")
        let token = try #require(session["accessToken"]?.string)
        let user = try #require(session["user", "id"]?.string)
        try await installation.database.execute(
            """
            INSERT INTO books (user_id, id, title, status)
            SELECT '\(user)', md5('book-' || n)::uuid, 'Book ' || n, 'READ' FROM generate_series(1, 100) n;
            INSERT INTO reviews (user_id, book_id, id, quarter_stars, text)
            SELECT '\(user)', md5('book-' || n)::uuid, md5('review-' || n)::uuid, 3, repeat('x', 100000)
            FROM generate_series(1, 100) n
            """)
        let lists = (0..<Self.listCount).map { "a\($0): reviews(first: 100) { nodes { text } }" }
        let query = "{ me { \(lists.joined(separator: " ")) } }"
        let before = try server.program.memoryBytes("VmHWM")
        let client = server.client
        for _ in 0..<3 {
            try await withThrowingTaskGroup { group in
                for _ in 0..<Self.clientCount {
                    group.addTask {
                        let response = try await client.execute(query, token: token)
                        #expect(
                            response["errors", 0, "extensions", "code"] == "RESPONSE_TOO_LARGE",
                            "\(response["errors", 0] ?? .null) \(server.program.errors.suffix(3000))"
                        )
                    }
                }
                try await group.waitForAll()
            }
        }
        let peak = try server.program.memoryBytes("VmHWM")
        #expect(peak - before < 500 * Self.megabyte)
        // The server releases the memory that it needed for the responses.
        try await waitUntil("the server is small again") {
            try server.program.memoryBytes("VmRSS") - before < 64 * Self.megabyte
        }
        server.program.send(SIGTERM)
        #expect(try await blocking { try server.program.wait() }.code == 0)
    }

    /// Archives that expand are refused while they are unpacked, one at a time for each reader, and not on an event loop.
    @Test(.enabled(if: getenv("ASAN_OPTIONS") == nil))
    func archivesThatExpandTakeLittleMemory() async throws {
        let installation = try await Installation.ready(catalog: [])
        let server = try await installation.startServer()
        let token = try #require(try await server.signIn("archivist")["accessToken"]?.string)
        let (client, archive) = (server.client, try Self.expandingArchive())
        #expect(archive.count < 200_000)
        let before = try server.program.memoryBytes("VmHWM")
        let codes = try await withThrowingTaskGroup(of: Value?.self) { group in
            for _ in 0..<10 {
                group.addTask {
                    let response = try await client.upload(
                        archive,
                        operations: HTTPClient.operations(
                            "mutation($file: Upload!) { importLibrary(input: {file: $file}) { id } }",
                            ["file": .null]),
                        map: #"{"0":["variables.file"]}"#, token: token)
                    return response.json["errors", 0, "extensions", "code"]
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        // One is read at a time, and four wait.
        #expect(codes.allSatisfy { $0 == "BAD_USER_INPUT" || $0 == "RATE_LIMITED" }, "\(codes)")
        #expect(codes.contains("BAD_USER_INPUT"))
        #expect(try server.program.memoryBytes("VmHWM") - before < 60 * Self.megabyte)
        #expect(
            try await Self.metric("bookplate_long_loop_turns_total", of: server) == 0,
            "\(server.program.errors.suffix(2000))")
    }

    /// The memory of large files to import returns to the system after the files were read, on whichever threads.
    @Test(.enabled(if: getenv("ASAN_OPTIONS") == nil))
    func memoryOfImportedFilesIsReleased() async throws {
        let installation = try await Installation.ready(catalog: [])
        let server = try await installation.startServer()
        var tokens: [String] = []
        for number in 0..<4 {
            tokens.append(
                try #require(try await server.signIn("reader-\(number)")["accessToken"]?.string))
        }
        // 10 MB that no format has.
        let file = Array("[\(String(repeating: "{},", count: 3_500_000)){}]".utf8)
        let client = server.client
        let before = try server.program.memoryBytes("VmRSS")
        for _ in 0..<3 {
            try await withThrowingTaskGroup { group in
                for token in tokens {
                    group.addTask {
                        let response = try await client.upload(
                            file,
                            operations: HTTPClient.operations(
                                "mutation($file: Upload!) { importLibrary(input: {file: $file}) { id } }",
                                ["file": .null]),
                            map: #"{"0":["variables.file"]}"#, token: token)
                        #expect(
                            response.json["errors", 0, "extensions", "code"] == "BAD_USER_INPUT",
                            "\(response.body)")
                    }
                }
                try await group.waitForAll()
            }
        }
        try await waitUntil("the server is small again") {
            try server.program.memoryBytes("VmRSS") - before < 20 * Self.megabyte
        }
    }

    /// Returns an archive of less than 200 kB whose `library.json` has 99 MB.
    private static func expandingArchive() throws -> [UInt8] {
        let file = try UnnamedFile()
        let writer = try ZipWriter(descriptor: file.descriptor, time: 1_700_000_000)
        try writer.begin("library.json")
        try writer.write(
            Array(#"{"format": "bookplate library", "version": 1, "books": ["#.utf8))
        let part = Array(String(repeating: "{},", count: 330_000).utf8)
        for _ in 0..<100 { try writer.write(part) }
        try writer.finish()
        return try file.bytes(0..<Int(lseek(file.descriptor, 0, SEEK_END)))
    }

    private static func metric(_ name: String, of server: RunningServer) async throws -> Int? {
        try await server.client.send("GET", "/metrics").body.split(separator: "\n")
            .first { $0.hasPrefix("\(name) ") }?
            .split(separator: " ").last.flatMap { Int($0) }
    }

    /// Images are written to files while they arrive, so many large ones take little memory.
    @Test(.enabled(if: getenv("ASAN_OPTIONS") == nil), arguments: [false, true])
    func uploadsTakeLittleMemory(isMultipart: Bool) async throws {
        let installation = try await Installation.ready(catalog: [])
        let server = try await installation.startServer()
        let session = try await server.signIn("photographer")
        let token = try #require(session["accessToken"]?.string)
        let user = try #require(session["user", "id"]?.string)
        let client = server.client
        let created = try await client.execute(
            #"mutation { createBook(input: {title: "Dune"}) { id } }"#, token: token)
        let book = try #require(created["data", "createBook", "id"]?.string)
        // Not an image, so that the measure does not depend on the decoder.
        let file = [UInt8](repeating: 0xFF, count: 24 << 20)
        let before = try server.program.memoryBytes("VmHWM")
        try await withThrowingTaskGroup { group in
            for _ in 0..<Self.clientCount {
                group.addTask {
                    let response =
                        isMultipart
                        ? try await client.upload(
                            file,
                            operations: HTTPClient.operations(
                                """
                                mutation($book: ID!, $image: Upload!) {
                                  setCover(id: $book, input: {image: $image}) { id }
                                }
                                """, ["book": .string(book), "image": .null]),
                            map: #"{"0":["variables.image"]}"#, token: token)
                        : try await client.send(
                            "PUT", "/book-covers/\(user)/\(book).jpg", token: token, bytes: file)
                    let code = response.json["errors", 0, "extensions", "code"]
                    // An address may send five of them at a time.
                    #expect(
                        code == "UNSUPPORTED_IMAGE" || code == "RATE_LIMITED", "\(response.body)")
                }
            }
            try await group.waitForAll()
        }
        // A form is searched for its parts in memory, one at a time for each address.
        let most = isMultipart ? 80 : 30
        #expect(try server.program.memoryBytes("VmHWM") - before < most * Self.megabyte)
    }

    private static let connectionCount = 2_000

    /// The memory of connections returns to the system after they were closed.
    @Test(.enabled(if: getenv("ASAN_OPTIONS") == nil))
    func memoryOfClosedConnectionsIsReleased() async throws {
        let installation = try await Installation.ready(catalog: [])
        let server = try await installation.startServer()
        let token = try #require(try await server.signIn("visitor")["accessToken"]?.string)
        let before = try server.program.memoryBytes("VmRSS")
        var requests: [HTTPClient.OpenRequest] = []
        for _ in 0..<Self.connectionCount {
            requests.append(
                try server.client.begin("{ me { id displayName } }", token: token))
        }
        try await waitUntil("the server has accepted them") {
            try await Self.metric("bookplate_http_connections", of: server) ?? 0
                > Self.connectionCount
        }
        #expect(try server.program.memoryBytes("VmRSS") - before > 10 * Self.megabyte)
        requests = []
        try await waitUntil("the server is small again") {
            try server.program.memoryBytes("VmRSS") - before < 8 * Self.megabyte
        }
    }
}
