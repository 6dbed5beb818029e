import Bookplate
import GraphQL
import GraphQLServing
import Identity
import Requests
import TestSupport

/// An e-reader that uses a personal access token, without HTTP.
struct EReader {
    let reader: TestReader
    let secret: String
    var address: ClientAddress?

    struct Response: Equatable {
        let status: Int
        let json: Value
        let isEmpty: Bool
    }

    init(_ reader: TestReader, secret: String? = nil) async throws {
        self.reader = reader
        if let secret {
            self.secret = secret
            return
        }
        let created = try await reader.requireValue(
            """
            mutation { createAccessToken(input: {name: "Kobo", scopes: [PROGRESS]}) { secret } }
            """, .null, "createAccessToken", "secret")
        self.secret = created.string ?? ""
    }

    private func request(_ path: String, _ credential: TokenCredential?, _ body: String)
        -> EReaderRequest
    {
        EReaderRequest(
            path: path[...], credential: credential, body: Array(body.utf8),
            address: address.map { RateKey($0) }, requestID: "test")
    }

    private func response(_ response: EReaderResponse) -> Response {
        Response(
            status: response.status, json: (try? parseJSON(response.body)) ?? .null,
            isEmpty: response.body.isEmpty)
    }

    private func run(
        _ work: @escaping @Sendable () async -> EReaderResponse
    ) async -> Response {
        response(await Task(executorPreference: reader.app.pool.executor) { await work() }.value)
    }

    // MARK: - KOReader

    /// Sends a position as KOReader does.
    func push(
        _ document: String, _ percentage: Double, progress: String = "/body/DocFragment[1]",
        device: String = "Kobo_clara", deviceID: String = "F0E1D2C3B4A5968778695A4B3C2D1E0F",
        metadata: String? = nil
    ) async -> Response {
        await push(
            """
            {"document":"\(document)","progress":"\(progress)","percentage":\(percentage),\
            "device":"\(device)","device_id":"\(deviceID)"\(metadata.map { ",\"metadata\":\($0)" } ?? "")}
            """)
    }

    func push(_ body: String) async -> Response {
        let (pool, services) = (reader.app.pool, reader.app.services)
        let request = self.request("/koreader/syncs/progress", koreader, body)
        return await run { await KOReaderEndpoint(database: pool, services: services).put(request) }
    }

    func pull(_ document: String) async -> Response {
        await getKOReader("/koreader/syncs/progress/\(document)")
    }

    func authorize() async -> Response { await getKOReader("/koreader/users/auth") }

    private var koreader: TokenCredential? {
        TokenCredential(
            koreaderUser: "ada", key: md5(secret.utf8).map { lowercaseHex($0) } ?? "")
    }

    private func getKOReader(_ path: String) async -> Response {
        let (pool, services) = (reader.app.pool, reader.app.services)
        let request = self.request(path, koreader, "")
        return await run { await KOReaderEndpoint(database: pool, services: services).get(request) }
    }

    // MARK: - OPDS Progression

    func progression(of book: Value) async -> Response {
        let (pool, services) = (reader.app.pool, reader.app.services)
        let request = self.opds(book, "")
        return await run {
            await ProgressionEndpoint(database: pool, services: services).get(request)
        }
    }

    func put(
        _ progression: Double, at modified: String, in book: Value, device: String = "urn:uuid:1"
    ) async -> Response {
        await put(
            """
            {"modified":"\(modified)","device":{"id":"\(device)","name":"Thorium"},"progression":\(progression)}
            """, in: book)
    }

    func put(_ body: String, in book: Value) async -> Response {
        let (pool, services) = (reader.app.pool, reader.app.services)
        let request = self.opds(book, body)
        return await run {
            await ProgressionEndpoint(database: pool, services: services).put(request)
        }
    }

    private func opds(_ book: Value, _ body: String) -> EReaderRequest {
        request(
            "/opds/progression/books/\(book.string ?? "")",
            TokenCredential(authorization: "Bearer \(secret)"), body)
    }

    // MARK: - The library

    func documents() async throws -> [Value] {
        try await reader.requireValue(
            "{ me { ereaderDocuments { nodes { id hash title author percent deviceName syncedAt book { id } } } } }",
            .null, "me", "ereaderDocuments", "nodes"
        ).list ?? []
    }

    /// Links the document that was synchronized last.
    @discardableResult
    func linkLast(to book: Value) async throws -> TestResponse {
        let id = try await documents().first?["id"] ?? .null
        return try await reader.execute(
            """
            mutation($id: ID!, $book: ID!) {
              linkEreaderDocument(id: $id, input: {bookId: $book}) { percent book { id } }
            }
            """, ["id": id, "book": book])
    }

    /// Returns the status of a book, its reads, and the percentages of their entries, the newest first.
    func state(of book: Value) async throws -> Value {
        try await reader.requireValue(
            """
            query($id: ID!) { book(id: $id) { status currentPage
              reads { nodes { outcome format progressEntries { nodes { percent } } } } } }
            """, ["id": book], "book")
    }

    /// The percentages of the entries of the first read.
    func percents(of book: Value) async throws -> [Value] {
        try await state(of: book)["reads", "nodes", 0, "progressEntries", "nodes"]?.list?
            .compactMap { $0["percent"] } ?? []
    }
}
