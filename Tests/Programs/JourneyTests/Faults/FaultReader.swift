import GraphQL
import Postgres
import TestBasics
import TestSupport
import Testing

/// A reader whose apps change the library and follow its changes.
struct FaultReader: Sendable {
    let name: String
    let id: String
    let token: String
    let follower: ChangeFollower
    let progress = WriteProgress()

    /// Creates a reader with one shelf, and starts to follow the changes.
    ///
    /// - Parameters:
    ///   - installation: Its admin CLI issues the access token.
    ///   - variables: The variables of the admin CLI.
    static func make(
        _ name: String, _ installation: Installation, _ variables: [String: String?] = [:],
        client: HTTPClient
    ) async throws -> FaultReader {
        // This token does not expire during the test, unlike that of a session.
        let issued = try await installation.admin(
            ["token", "issue", "--subject", name, "--json"], variables)
        guard issued.code == 0 else { throw Program.Failure(description: issued.errors) }
        let session = try parseJSON(Array(issued.output.utf8))
        let token = try #require(session["accessToken"]?.string)
        // A change whose cursor the follower starts with.
        let created = try await client.execute(
            #"mutation { createShelf(input: {name: "First"}) { id } }"#, token: token)
        #expect(created["errors"] == nil, "\(created)")
        let log = try await client.execute(
            "{ changes { pageInfo { endCursor } } }", token: token)
        let follower = ChangeFollower(
            port: client.port, token: token,
            after: try #require(log["data", "changes", "pageInfo", "endCursor"]?.string))
        Task { try await blocking { try follower.run() } }
        return FaultReader(
            name: name, id: try #require(session["userId"]?.string), token: token,
            follower: follower)
    }

    /// Each reader changes its library while `faults` runs.
    ///
    /// - Parameter cards: The catalog cards that the readers swipe.
    /// - Returns: One writer for each reader.
    static func write(
        _ readers: [FaultReader], client: HTTPClient, cards: [String] = [],
        random: inout SeededGenerator,
        during faults: () async throws -> Void
    ) async throws -> [FaultWriter] {
        try await withThrowingTaskGroup(of: (Int, FaultWriter).self) { tasks in
            for (index, reader) in readers.enumerated() {
                var writer = FaultWriter(
                    client: client, token: reader.token, progress: reader.progress, cards: cards,
                    random: SeededGenerator(random.next()))
                tasks.addTask {
                    try await writer.run()
                    return (index, writer)
                }
            }
            do {
                defer { for reader in readers { reader.progress.end() } }
                try await faults()
            }
            let writers = try await tasks.reduce(into: [Int: FaultWriter]()) { $0[$1.0] = $1.1 }
            return readers.indices.compactMap { writers[$0] }
        }
    }

    /// Checks that the library consists of the confirmed changes, that each of them was made once, and that the subscription has
    /// received all of them.
    ///
    /// - Parameter ownerURL: The URL of the database with the role of its owner.
    func check(_ writer: FaultWriter, ownerURL: String, _ comment: Comment) async throws {
        let books = writer.books.map { [$0.key, "\($0.value.title) \($0.value.status)"] }
        let stored = [
            ("SELECT id, title || ' ' || status FROM books WHERE user_id = '\(id)'", books),
            (
                "SELECT id, name FROM shelves WHERE user_id = '\(id)' AND name <> 'First'",
                writer.shelves.map { [$0.key, $0.value] }
            ),
            (
                "SELECT book_id, shelf_id FROM shelf_books WHERE user_id = '\(id)'",
                writer.shelfOfBook.map { [$0.key, $0.value] }
            ),
            (
                "SELECT book_id, quarter_stars / 4 || ' ' || text FROM reviews WHERE user_id = '\(id)'",
                writer.reviews.map { [$0.key, $0.value] }
            ),
            (
                """
                SELECT edition_id,
                    action || to_char(swiped_at AT TIME ZONE 'UTC', ' YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
                FROM swipes WHERE user_id = '\(id)'
                """, writer.swipes
            ),
        ]
        for (sql, expected) in stored {
            let found = try await rows(sql, ownerURL)
            #expect(Set(found) == Set(expected), "\(comment): \(sql)")
            #expect(found.count == expected.count, "\(comment): \(sql)")
        }

        let log = try await checkLog(ownerURL: ownerURL, comment)
        let all = Set(writer.books.keys).union(writer.shelves.keys).union(writer.deleted)
        #expect(
            log.filter { $0.kind == "CREATED" && all.contains($0.id) }.map(\.id).sorted()
                == all.sorted(), comment)
        #expect(
            log.filter { $0.kind == "DELETED" && all.contains($0.id) }.map(\.id).sorted()
                == writer.deleted.sorted(), comment)
        try await checkReviews(in: log, ownerURL: ownerURL, comment)
    }

    /// Checks that the log creates no review twice, and ends with those of the library.
    private func checkReviews(
        in log: [ChangeFollower.Event], ownerURL: String, _ comment: Comment
    ) async throws {
        let logged = try await rows(
            "SELECT DISTINCT id, '' FROM changes WHERE user_id = '\(id)' AND typename = 'Review'",
            ownerURL)
        let stored = try await rows(
            "SELECT id, '' FROM reviews WHERE user_id = '\(id)'", ownerURL)
        let ids = Set(logged.map { $0[0] })
        var kinds: [String: [String]] = [:]
        for event in log where event.kind != "UPDATED" && ids.contains(event.id) {
            kinds[event.id, default: []].append(event.kind)
        }
        #expect(
            kinds.filter { $0.value.last == "CREATED" }.keys.sorted()
                == stored.map { $0[0] }.sorted(), comment)
        #expect(
            kinds.values.allSatisfy { kinds in
                !zip(kinds, kinds.dropFirst()).contains { $0 == "CREATED" && $1 == "CREATED" }
            }, comment)
    }

    /// Checks that the log of changes has no gap, and that the subscription has received all of it.
    ///
    /// - Returns: The log after the entry of the first shelf.
    @discardableResult
    func checkLog(
        ownerURL: String, _ comment: Comment
    ) async throws -> [ChangeFollower.Event] {
        let entries = try await rows(
            "SELECT kind || ' ' || id, seq FROM changes WHERE user_id = '\(id)' ORDER BY seq",
            ownerURL)
        #expect(entries.map { $0[1] } == (0..<entries.count).map { "\($0 + 1)" }, comment)
        let log = entries.dropFirst().map { entry in
            let words = entry[0].split(separator: " ")
            return ChangeFollower.Event(kind: String(words[0]), id: String(words[1]))
        }
        try? await waitUntil("the subscription has all changes") {
            follower.events.count >= log.count
        }
        #expect(follower.events == log, comment)
        return log
    }

    /// Returns the rows of a query with two columns as texts.
    private func rows(_ sql: String, _ url: String) async throws -> [[String]] {
        try await blocking {
            let result = try AdminConnection(url).query(
                "SELECT a::text, b::text FROM (\(sql)) q (a, b)")
            return (0..<result.count).map { row in
                [result.text(row, 0) ?? "", result.text(row, 1) ?? ""]
            }
        }
    }
}
