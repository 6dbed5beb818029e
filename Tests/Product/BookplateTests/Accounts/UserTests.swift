import GraphQL
import TestSupport
import Testing

@Suite struct UserTests {
    static let app = Shared { try await TestApp.start() }

    static let update = """
        mutation($input: UpdateProfileInput!) { updateProfile(input: $input) { id displayName preferredGenres { name } } }
        """
    static let delete =
        "mutation($id: String!) { deleteAccount(confirm: $id) { id books reviews covers } }"

    @Test(
        arguments: [
            ([:], "Name", ["Horror"]), (["displayName": " New "], "New", ["Horror"]),
            (["displayName": .null], nil, ["Horror"]), (["displayName": ""], nil, ["Horror"]),
            (["preferredGenres": ["Fantasy", "History"]], "Name", ["Fantasy", "History"]),
            (
                ["preferredGenres": ["sci-fi", "FANTASY", "Science fiction"]],
                "Name", ["Science Fiction", "Fantasy"]
            ),
            (
                ["preferredGenres": ["mystery-and-crime", "Mystery & Crime", "fantasy"]],
                "Name", ["Mystery & Crime", "Fantasy"]
            ),
            (["preferredGenres": .null], "Name", []), (["preferredGenres": []], "Name", []),
            (["displayName": "B", "preferredGenres": []], "B", []),
        ] as [(Value, String?, [Value])])
    func absentFieldsAreKeptAndNullClearsThem(input: Value, name: String?, genres: [Value])
        async throws
    {
        let reader = try await Self.app().makeReader()
        _ = try await reader.execute(
            Self.update, ["input": ["displayName": "Name", "preferredGenres": ["Horror"]]])
        let response = try await reader.execute(Self.update, ["input": input])
        #expect(
            response["updateProfile"] == [
                "id": reader.id, "displayName": name.map { .string($0) } ?? .null,
                "preferredGenres": .list(genres.map { ["name": $0] }),
            ])
    }

    @Test(
        arguments: [
            (["displayName": .string(String(repeating: "x", count: 101))], "displayName"),
            (["displayName": "a\u{0}"], "displayName"),
            (["preferredGenres": ["Cookery", "Swords"]], "preferredGenres"),
            (["preferredGenres": .list(Array(repeating: "Horror", count: 51))], "preferredGenres"),
            (["languages": ["es", "Klingonish"]], "languages"),
            (["languages": ["und"]], "languages"),
            (["languages": ["es\u{0}"]], "languages"), (["languages": [""]], "languages"),
            (["languages": .list(Array(repeating: "es", count: 11))], "languages"),
        ] as [(Value, String)])
    func badInputIsRejected(input: Value, field: String) async throws {
        let reader = try await Self.app().makeReader()
        let response = try await reader.execute(Self.update, ["input": input])
        #expect(response.code == "BAD_USER_INPUT")
        #expect(response.field == field)
    }

    @Test func statisticsMatchTheLibrary() async throws {
        let reader = try await Self.app().makeReader()
        let stats = """
            { me { stats {
                bookCount wantToRead reading read paused didNotFinish reviewCount averageRating
                readByYear { year bookCount }
            } } }
            """
        let empty = try await reader.execute(stats)
        #expect(
            empty["me", "stats"] == [
                "bookCount": 0, "wantToRead": 0, "reading": 0, "read": 0, "paused": 0,
                "didNotFinish": 0, "reviewCount": 0, "averageRating": .null, "readByYear": [],
            ])
        try await reader.makeBooks(3, "Want")
        try await reader.makeBooks(2, "Reading", status: "READING")
        _ = try await reader.makeBook("Paused", status: "PAUSED")
        try await reader.makeBooks(2, "Ended", status: "DID_NOT_FINISH")
        let read = try await reader.makeBooks(4, "Read", status: "READ")
        try await reader.review(read[0], rating: 5)
        try await reader.review(read[1], rating: 2)
        let id = reader.id.string ?? ""
        for (book, date) in zip(read, ["'2024-12-31'", "'2025'", "'2025-06-01'", "NULL"]) {
            try await Self.app().database.execute(
                """
                UPDATE reads SET finished_on = \(date)
                WHERE user_id = '\(id)' AND book_id = '\(book.string ?? "")'
                """)
        }
        let full = try await reader.execute(stats)
        #expect(
            full["me", "stats"] == [
                "bookCount": 12, "wantToRead": 3, "reading": 2, "read": 4, "paused": 1,
                "didNotFinish": 2, "reviewCount": 2, "averageRating": 3.5,
                "readByYear": [["year": 2025, "bookCount": 2], ["year": 2024, "bookCount": 1]],
            ])
    }

    @Test func deletingAnAccountRemovesAllItsRows() async throws {
        let app = try await Self.app()
        let reader = try await app.makeReader()
        let other = try await app.makeReader()
        let shelf = try await reader.makeShelf("Shelf")
        let book = try await reader.makeBook("Book", status: "READ", shelves: [shelf])
        try await reader.review(book, text: "Words of my own")
        _ = try await reader.swipe("LIKE", try await reader.feedCards(2).map { $0["id"] ?? .null })
        _ = try await reader.requireValue(
            "mutation { setReadingGoal(input: {year: 2024, target: 12}) { id } }", .null,
            "setReadingGoal")
        _ = try await other.makeBook("Theirs")
        let response = try await reader.execute(Self.delete, ["id": reader.id])
        #expect(
            response["deleteAccount"] == ["id": reader.id, "books": 3, "reviews": 1, "covers": 0])

        let id = reader.id.string ?? ""
        let left = try await app.database.withConnection { connection in
            var left: [String: Int64] = [:]
            let tables = try connection.query(
                """
                SELECT table_name::text, column_name::text FROM information_schema.columns
                WHERE table_schema = 'public' AND data_type = 'uuid'
                    -- The audit log keeps the ids of deleted accounts.
                    AND table_name <> 'audit_events'
                """)
            for row in 0..<tables.count {
                let (table, column) = (tables.text(row, 0) ?? "", tables.text(row, 1) ?? "")
                let count =
                    try connection.query(
                        "SELECT count(*) FROM \(table) WHERE \(column) = '\(id)'"
                    ).int64(0, 0) ?? -1
                if count != 0 { left["\(table).\(column)"] = count }
            }
            return left
        }
        #expect(left == [:])
        let tombstone = try await app.database.withConnection { connection in
            try connection.query(
                """
                SELECT to_jsonb(t) - 'id' - 'deleted_at' - 'user_hash' - 'session_hash'
                    = '{"books": 3, "reviews": 1, "covers": 0, "apple_token_revoked": false}',
                  user_hash = sha256(uuid_send('\(id)')), to_jsonb(t)::text LIKE '%\(id)%'
                FROM account_tombstones t WHERE user_hash = sha256(uuid_send('\(id)'))
                """)
        }
        #expect(tombstone.count == 1)
        #expect(tombstone.bool(0, 0) == true)
        #expect(tombstone.bool(0, 2) == false)

        // Both tokens are invalid immediately.
        #expect(try await reader.execute("{ me { id } }").code == "UNAUTHENTICATED")
        #expect(
            try await app.execute(RefreshTests.refresh, ["token": .string(reader.refreshToken)])
                .code
                == "UNAUTHENTICATED")
        // The same person can sign in again and gets an empty library.
        let again = try TestReader(
            app, reader.subject, try await app.signIn(subject: reader.subject))
        #expect(again.id != reader.id)
        #expect(try await again.feedCards(24).count == 24)
        #expect(
            try await other.requireValue(
                "{ me { books { totalCount } } }", .null, "me", "books", "totalCount")
                == 1)
    }

    /// After a lost response, the session that has deleted the account gets the same response again. Other sessions end.
    @Test func repeatedDeletionReturnsTheSameResponse() async throws {
        let app = try await Self.app()
        let reader = try await app.makeReader()
        let other = try TestReader(
            app, reader.subject, try await app.signIn(subject: reader.subject))
        let signedOut = try TestReader(
            app, reader.subject, try await app.signIn(subject: reader.subject))
        #expect(
            try await signedOut.execute("mutation { signOut { endedSessions } }").errors.isEmpty)
        try await reader.makeBooks(2, "Book")
        let first = try await reader.execute(Self.delete, ["id": reader.id])
        #expect(first["deleteAccount", "books"] == 2)
        for _ in 1...2 {
            let again = try await reader.execute(Self.delete, ["id": reader.id])
            #expect(again.json == first.json)
        }
        for session in [other, signedOut] {
            #expect(
                try await session.execute(Self.delete, ["id": reader.id]).code == "UNAUTHENTICATED")
        }
        #expect(
            try await reader.execute(Self.delete, ["id": "0198c0de-0000-7000-8000-00000000dead"])
                .code
                == "BAD_USER_INPUT")
        #expect(try await reader.execute("{ me { id } }").code == "UNAUTHENTICATED")
        let id = reader.id.string ?? ""
        #expect(
            try await app.database.count(
                "SELECT count(*) FROM account_tombstones WHERE user_hash = sha256(uuid_send('\(id)'))"
            )
                == 1)
    }

    @Test func deletionRequiresTheOwnID() async throws {
        let app = try await Self.app()
        let reader = try await app.makeReader()
        let other = try await app.makeReader()
        for confirm in [other.id, "", "yes", "0198c0de-0000-7000-8000-00000000dead"] {
            let response = try await reader.execute(Self.delete, ["id": confirm])
            #expect(response.code == "BAD_USER_INPUT")
            #expect(response.field == "confirm")
        }
        #expect(try await reader.execute("{ me { id } }").errors.isEmpty)
        #expect(try await other.execute("{ me { id } }").errors.isEmpty)
    }
}
