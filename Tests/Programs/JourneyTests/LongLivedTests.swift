import Glibc
import GraphQL
import TestBasics
import TestSupport
import Testing

/// Long requests, completed and abandoned: archives, uploads, and streams.
///
/// At the end of each test the server must stop without an error. `scripts/check address` runs these tests with
/// programs that are built with AddressSanitizer.
@Suite struct LongLivedTests {
    private static let bookCount = 30
    private static let coverCount = 10

    private struct SignedInClient {
        let server: RunningServer
        let user: String
        let token: String

        init(_ subject: String, on server: RunningServer) async throws {
            self.server = server
            let session = try await server.signIn(subject)
            user = try #require(session["user", "id"]?.string)
            token = try #require(session["accessToken"]?.string)
        }

        func execute(_ query: String, _ variables: Value = .null) async throws -> Value {
            let response = try await server.client.execute(query, variables, token: token)
            return try #require(response["data"], "\(response)")
        }

        func makeBook(_ title: String) async throws -> String {
            let created = try await execute(
                "mutation($t: String!) { createBook(input: {title: $t}) { id } }",
                ["t": .string(title)])
            return try #require(created["createBook", "id"]?.string)
        }

        func coverPath(_ book: String) -> String { "/book-covers/\(user)/\(book).jpg" }

        /// Opens a subscription whose responses arrive in the format that `accept` names.
        func subscribe(
            _ query: String, _ variables: Value, accept: String
        ) async throws -> StreamClient {
            try await blocking { [self] in
                let client = try StreamClient(port: server.client.port)
                try client.send(
                    "POST", "/graphql",
                    headers: [
                        "accept": accept, "content-type": "application/json",
                        "authorization": "Bearer \(token)", "connection": "close",
                    ], body: HTTPClient.operations(query, variables))
                return client
            }
        }
    }

    private func stop(_ server: RunningServer) async throws {
        server.program.send(SIGTERM)
        let outcome = try await blocking { try server.program.wait() }
        #expect(outcome.code == 0, "\(outcome.errors)")
    }

    private static func multipart(_ name: String, _ file: [UInt8], _ operations: String) -> [UInt8]
    {
        [
            ("operations", Array(operations.utf8)),
            ("map", Array(#"{"0":["variables.file"]}"#.utf8)), ("0\"; filename=\"\(name)", file),
        ].flatMap { name, content in
            Array("--XX\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n".utf8) + content
                + Array("\r\n".utf8)
        } + Array("--XX--\r\n".utf8)
    }

    private static let importLibrary =
        #"{"query":"mutation($file: Upload!) { importLibrary(input: {file: $file}) { id } }","variables":{"file":null}}"#

    private static func importHeaders(_ token: String) -> [String: String] {
        [
            "authorization": "Bearer \(token)", "graphql-preflight": "1",
            "content-type": "multipart/form-data; boundary=XX",
        ]
    }

    @Test func exportedArchivesCanBeImportedByAnotherUser() async throws {
        let server = try await Installation.ready(catalog: []).startServer()
        let client = try await SignedInClient("exporter", on: server)
        for number in 0..<Self.bookCount {
            let book = try await client.makeBook("Book \(number)")
            guard number < Self.coverCount else { continue }
            // Noise does not compress, so the archive is larger than the buffers of a connection.
            var random = SeededGenerator(UInt64(number))
            let image = TestImage.png(width: 300, height: 450) { _, _ in
                let noise = random.next()
                return [0, 8, 16].map { UInt8(truncatingIfNeeded: noise >> $0) }
            }
            let put = try await server.client.send(
                "PUT", client.coverPath(book), token: client.token, bytes: image)
            #expect(put.status == 201, "\(put.body)")
        }
        let url = try #require(
            try await client.execute("mutation { exportLibrary { url } }")["exportLibrary", "url"]?
                .string)
        let path = String(url[try #require(url.firstRange(of: "/exports/")).lowerBound...])

        // Some clients disconnect while the server sends the archive.
        for _ in 0..<5 {
            try await blocking {
                let client = try StreamClient(port: server.client.port)
                try client.send("GET", path, headers: [:])
                try client.receive(until: "\r\n\r\nPK")
                client.reset()
            }
        }
        let archive = try await server.client.send("GET", path)
        #expect(archive.status == 200)
        #expect(archive.headers["content-type"] == "application/zip")
        #expect(archive.headers["content-length"] == "\(archive.bytes.count)")
        #expect(archive.bytes.starts(with: "PK".utf8))

        let other = try await SignedInClient("importer", on: server)
        let response = try await server.client.send(
            "POST", "/graphql",
            bytes: Self.multipart("library.zip", archive.bytes, Self.importLibrary),
            headers: Self.importHeaders(other.token))
        let id = try #require(response.json["data", "importLibrary", "id"], "\(response.body)")
        // The stream ends with the import.
        let progress = try await other.subscribe(
            "subscription($id: ID!) { importProgress(id: $id) { state created } }", ["id": id],
            accept: "text/event-stream")
        let events = try await blocking { try progress.receive() }
        #expect(events.contains(#"{"state":"DONE","created":\#(Self.bookCount)}"#), "\(events)")
        #expect(events.contains("event: complete"))
        let books = try await other.execute(
            "{ me { books(first: 100) { nodes { coverStatus } } } }")
        let covers = try #require(books["me", "books", "nodes"]).values(of: "coverStatus")
        #expect(covers.count == Self.bookCount)
        #expect(covers.count { $0 == "READY" } == Self.coverCount, "\(covers)")
        try await stop(server)
    }

    @Test(arguments: ["text/event-stream", #"multipart/mixed;subscriptionSpec="1.0""#])
    func changeStreamsEndWhenTheClientOrTheServerStops(accept: String) async throws {
        let server = try await Installation.ready(catalog: []).startServer()
        let client = try await SignedInClient("streams", on: server)
        let start = try await client.execute("{ changes { pageInfo { endCursor } } }")
        let cursor: Value = ["c": start["changes", "pageInfo", "endCursor"] ?? .null]
        let query = "subscription($c: String) { changes(after: $c) { nodeId kind } }"
        let staying = try await client.subscribe(query, cursor, accept: accept)
        for number in 0..<5 {
            let leaving = try await client.subscribe(query, cursor, accept: accept)
            let book = try await client.makeBook("Book \(number)")
            try await blocking {
                for client in [staying, leaving] {
                    try client.receive(until: #""nodeId":"\#(book)","kind":"CREATED""#)
                }
                if number.isMultiple(of: 2) { leaving.reset() }
            }
        }
        server.program.send(SIGTERM)
        // A stream that is cut off by its server has no final event, so the client knows that it has to reconnect.
        let end = try await blocking { try staying.receive() }
        #expect(!end.contains("complete") && !end.hasSuffix("--\r\n"), "\(end)")
        #expect(try await blocking { try server.program.wait() }.code == 0)
    }

    @Test func theServerSurvivesAbortedUploads() async throws {
        let server = try await Installation.ready(catalog: []).startServer()
        let client = try await SignedInClient("breaks off", on: server)
        let book = try await client.makeBook("Book")
        let image = TestImage.png(width: 900, height: 900)
        let form = Self.multipart("library.zip", image, Self.importLibrary)
        for part in [1, image.count / 2, image.count - 1] {
            try await blocking {
                let cover = try StreamClient(port: server.client.port)
                try cover.send(
                    "PUT", client.coverPath(book),
                    headers: ["authorization": "Bearer \(client.token)"],
                    body: Array(image.prefix(part)), length: image.count)
                let library = try StreamClient(port: server.client.port)
                try library.send(
                    "POST", "/graphql", headers: Self.importHeaders(client.token),
                    body: Array(form.prefix(part)), length: form.count)
                cover.reset()
                library.reset()
            }
        }
        let put = try await server.client.send(
            "PUT", client.coverPath(book), token: client.token, bytes: image)
        #expect(put.status == 201, "\(put.body)")
        try await stop(server)
    }
}
