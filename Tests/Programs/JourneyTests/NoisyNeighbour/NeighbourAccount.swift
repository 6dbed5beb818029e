import Glibc
import GraphQL
import Postgres
import SocketClient
import TestSupport

/// An account with a library, and the loopback address from which its apps connect.
struct NeighbourAccount: Sendable {
    let address: String
    let user: String
    let token: String
    /// The ids of objects of the library and of cards, by the type.
    var ids: [String: [String]] = [:]

    /// Returns an HTTP request with the account's token, for a connection that stays open.
    func request(
        _ method: String, _ path: String, _ body: [UInt8] = [],
        contentType: String = "application/json", headers: String = ""
    ) -> [UInt8] {
        Array(
            ("\(method) \(path) HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer \(token)\r\n"
                + "content-type: \(contentType)\r\ncontent-length: \(body.count)\r\n\(headers)\r\n")
                .utf8) + body
    }

    /// Returns a GraphQL request.
    func post(_ query: String, _ variables: Value = .null, headers: String = "") -> [UInt8] {
        request("POST", "/graphql", HTTPClient.operations(query, variables), headers: headers)
    }

    /// Returns a GraphQL multipart request whose variable `file` is a file.
    func upload(_ file: [UInt8], _ query: String, _ variables: [Value.Member] = []) -> [UInt8] {
        let operations = HTTPClient.operations(query, .object(variables + [.init("file", .null)]))
        var body: [UInt8] = []
        for (name, content) in [
            ("operations", operations), ("map", Array(#"{"0":["variables.file"]}"#.utf8)),
            ("0\"; filename=\"f", file),
        ] {
            body += Array(
                "--XX\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n".utf8)
            body += content + Array("\r\n".utf8)
        }
        return request(
            "POST", "/graphql", body + Array("--XX--\r\n".utf8),
            contentType: "multipart/form-data; boundary=XX", headers: "graphql-preflight: 1\r\n")
    }
}

extension NeighbourAccount {
    /// The types whose ids an account knows, with the statement that selects the user and the id of each object.
    private static let objects = [
        "Book": "SELECT user_id, id FROM books", "Shelf": "SELECT user_id, id FROM shelves",
        "Read": "SELECT user_id, id FROM reads", "Note": "SELECT user_id, id FROM notes",
        "ProgressEntry": "SELECT user_id, id FROM progress_entries",
        "FeedCard":
            "SELECT u.id AS user_id, e.id FROM users u, (SELECT id FROM editions ORDER BY id LIMIT 200) e",
    ]

    /// Creates accounts whose libraries have `books` books of the catalog, each with a review, a read, a progress entry, a
    /// note, and a shelf.
    ///
    /// - Parameter addresses: the address of each account. An address can sign in 30 times per minute.
    static func make(
        _ addresses: [String], books: Int, on server: RunningServer, _ database: TestDatabase
    ) async throws -> [NeighbourAccount] {
        var accounts: [NeighbourAccount] = []
        for address in addresses {
            accounts.append(try await signIn(address, on: server))
        }
        let users = accounts.map(\.user).joined(separator: ",")
        let found = accounts
        return try await database.withConnection { connection in
            try connection.execute(libraries(users: users, books: books))
            var accounts = found
            for (type, objects) in Self.objects {
                let rows = try connection.query(
                    """
                    SELECT user_id::text, string_agg(id::text, ',') FROM (\(objects)) objects
                    WHERE user_id = ANY ('{\(users)}') GROUP BY user_id
                    """)
                var ids: [String: [String]] = [:]
                for row in 0..<rows.count {
                    ids[rows.text(row, 0) ?? ""] =
                        (rows.text(row, 1) ?? "").split(separator: ",").map(String.init)
                }
                for index in accounts.indices {
                    accounts[index].ids[type] = ids[accounts[index].user]
                }
            }
            return accounts
        }
    }

    private static func signIn(
        _ address: String, on server: RunningServer
    ) async throws -> NeighbourAccount {
        try await blocking {
            let client = try RawClient(port: server.client.port, from: address, timeout: 20)
            let anonymous = NeighbourAccount(address: address, user: "", token: "")
            let subject = "neighbour-\(UInt64.random(in: 0...UInt64.max))"
            try client.send(
                anonymous.request(
                    "POST", "/development/identity-token",
                    Array(#"{"subject":"\#(subject)","audience":"com.example.reader"}"#.utf8)))
            let token = try parseJSON(try client.response().bytes)["identityToken"] ?? .null
            let body = HTTPClient.operations(
                TestApp.signIn, ["input": ["identityToken": token]])
            try client.send(
                Array(
                    ("POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
                        + "content-length: \(body.count)\r\n\r\n").utf8) + body)
            let response = try client.response()
            guard let session = try parseJSON(response.bytes)["data", "signIn"],
                let token = session["accessToken"]?.string, let user = session["user", "id"]?.string
            else { throw Program.Failure(description: "no session: \(response.body)") }
            return NeighbourAccount(address: address, user: user, token: token)
        }
    }

    private static func libraries(users: String, books: Int) -> String {
        """
        CREATE TEMPORARY TABLE added AS
        SELECT u.id AS user_id, gen_random_uuid() AS id, gen_random_uuid() AS read_id, e.*
        FROM unnest('{\(users)}'::uuid[]) u(id), (
            SELECT id AS edition_id, title, authors, isbn13, row_number() OVER (ORDER BY popularity DESC, id) AS n
            FROM editions LIMIT \(books)) e;
        INSERT INTO books (user_id, id, edition_id, title, authors, isbn13, page_count, status, added_at)
        SELECT user_id, id, edition_id, title, authors, isbn13, 300, 'READ', now() - n * interval '1 minute' FROM added;
        INSERT INTO shelves (user_id, id, name, position)
        SELECT u.id, gen_random_uuid(), 'Shelf ' || n, n
        FROM unnest('{\(users)}'::uuid[]) u(id), generate_series(0, 9) n;
        INSERT INTO shelf_books (user_id, shelf_id, book_id, added_at)
        SELECT a.user_id, s.id, a.id, b.added_at
        FROM added a JOIN books b USING (user_id, id) JOIN shelves s ON s.user_id = a.user_id AND s.position = a.n % 10;
        INSERT INTO reviews (user_id, book_id, id, quarter_stars, text)
        SELECT user_id, id, gen_random_uuid(), 16, repeat('A good book. ', 20) FROM added;
        INSERT INTO reads (user_id, id, book_id, started_on, finished_on, outcome)
        SELECT user_id, read_id, id, '2026-01-02', '2026-02-03', 'FINISHED' FROM added;
        INSERT INTO progress_entries (user_id, id, read_id, at, percent)
        SELECT user_id, gen_random_uuid(), read_id, '2026-01-12 12:00Z', 50 FROM added;
        INSERT INTO notes (user_id, id, book_id, text, percent)
        SELECT user_id, gen_random_uuid(), id, repeat('words worth keeping ', 10), 50 FROM added;
        DROP TABLE added;
        ANALYZE books, shelves, shelf_books, reviews, reads, progress_entries, notes;
        """
    }
}
