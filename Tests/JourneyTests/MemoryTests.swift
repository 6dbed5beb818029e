import Glibc
import GraphQL
import TestSupport
import Testing

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
            INSERT INTO reviews (user_id, book_id, id, half_stars, text)
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
}
