import GraphQLServing
import GraphQL
import ObjectStorage
import Postgres
import TestBasics
import TestSupport
import Testing

@testable import Bookplate

/// Merging the library of a guest into an account, as an app sees it.
@Suite struct GuestMergeTests {
    static let app = Shared {
        let app = try await TestApp.start()
        try await app.allowGuests()
        return app
    }

    func merge(_ guest: TestReader, into account: TestReader) async throws -> TestReader {
        let response = try await account.app.signIn(
            token: account.app.identityToken(subject: account.subject), as: guest)
        #expect(response["signIn", "user", "id"] == account.id)
        return try TestReader(account.app, account.subject, response)
    }

    /// A reader browses as a guest, likes five books, and signs in with an account that has a library.
    @Test func likedBooksOfTheGuestJoinTheLibrary() async throws {
        let app = try await Self.app()
        let account = try await app.makeReader()
        let guest = try await app.makeGuest()
        let cards = try await guest.feedCards(5).compactMap { $0["id"] }
        _ = try await account.swipe("LIKE", Array(cards.prefix(2)))
        let own = try await account.makeBook("Own", status: "READING")
        _ = try await guest.swipe("LIKE", cards)
        let merged = try await merge(guest, into: account)
        let me = try await merged.execute(
            "{ me { books { totalCount } swipes(first: 50) { totalCount } } book(id: \"\(own.string ?? "")\") { status } }"
        )
        #expect(me["me", "books", "totalCount"] == 6)
        #expect(me["me", "swipes", "totalCount"] == 7)
        #expect(me["book", "status"] == "READING")
        #expect(try await guest.execute("{ me { id } }").code == "UNAUTHENTICATED")
    }

    @Test func idsOfTheGuestStayValid() async throws {
        let app = try await Self.app()
        let account = try await app.makeReader()
        let guest = try await app.makeGuest()
        let shelf = try await guest.makeShelf("Guest's shelf")
        let book = try await guest.makeBook("Emma", status: "READ", shelves: [shelf])
        let review = try await guest.review(book, text: "Good")
        let merged = try await merge(guest, into: account)
        let found = try await merged.execute(
            "query($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }",
            ["ids": [shelf, book, review]])
        #expect(
            found["nodes"] == [
                ["__typename": "Shelf", "id": shelf], ["__typename": "Book", "id": book],
                ["__typename": "Review", "id": review],
            ])
    }

    /// The account keeps its review and its private notes. The texts of the guest become notes.
    @Test func textsOfTheSameBookAreAllKept() async throws {
        let app = try await Self.app()
        let account = try await app.makeReader()
        let guest = try await app.makeGuest()
        let isbn = TestCatalog.isbn(5)
        let long = String(repeating: "Much. ", count: 4000)
        var books: [Value] = []
        for (reader, review, notes) in [(account, "Mine", "private"), (guest, long, "other")] {
            let book = try await reader.makeBook(["isbn": .string(isbn), "status": "READ"])
            try await reader.review(book, text: review)
            _ = try await reader.requireValue(
                "mutation($id: ID!, $notes: String) { updateBook(id: $id, input: {privateNotes: $notes}) { id } }",
                ["id": book, "notes": .string(notes)], "updateBook", "id")
            books.append(book)
        }
        let merged = try await merge(guest, into: account)
        let found = try await merged.execute(
            "query($id: ID!) { book(id: $id) { privateNotes review { text } notes(first: 50) { nodes { comment } } } }",
            ["id": books[0]])
        #expect(found["book", "privateNotes"] == "private")
        #expect(found["book", "review", "text"] == "Mine")
        let comments = (found["book", "notes", "nodes"]?.list ?? []).compactMap {
            $0["comment"]?.string
        }
        #expect(comments.contains("other"))
        #expect(comments.map(\.count).sorted() == [5, 3999, 10_000, 10_000])
    }

    /// A merge loses nothing. The account cannot add more until it is below the limit again.
    @Test func mergeKeepsShelvesAndNotesBeyondTheLimits() async throws {
        let app = try await Self.app()
        let account = try await app.makeReader()
        let guest = try await app.makeGuest()
        let isbn = Value.string(TestCatalog.isbn(6))
        let book = try await account.makeBook(["isbn": isbn])
        let other = try await guest.makeBook(["isbn": isbn])
        _ = try await guest.makeShelf("Of the guest")
        let user = account.id.string ?? ""
        try await app.database.execute(
            """
            INSERT INTO shelves (user_id, id, name, position)
            SELECT '\(user)', gen_random_uuid(), 'Shelf ' || n, n FROM generate_series(1, \(Shelf.countMax)) n;
            INSERT INTO notes (user_id, id, book_id, text)
            SELECT '\(user)', gen_random_uuid(), '\(book.string ?? "")', 'Note ' || n
            FROM generate_series(1, \(Note.ofBookMax)) n;
            INSERT INTO notes (user_id, id, book_id, text)
            VALUES ('\(guest.id.string ?? "")', gen_random_uuid(), '\(other.string ?? "")', 'Of the guest')
            """)
        let merged = try await merge(guest, into: account)
        #expect(
            try await app.database.count("SELECT count(*) FROM shelves WHERE user_id = '\(user)'")
                == Shelf.countMax + 1)
        #expect(
            try await app.database.count("SELECT count(*) FROM notes WHERE user_id = '\(user)'")
                == Note.ofBookMax + 1)
        let shelf = "mutation { createShelf(input: {name: \"More\"}) { id } }"
        #expect(try await merged.execute(shelf).code == "BAD_USER_INPUT")
        let note = try await merged.execute(
            "mutation($id: ID!) { createNote(input: {bookId: $id, text: \"More\"}) { id } }",
            ["id": book])
        #expect(note.code == "BAD_USER_INPUT")
        try await app.database.execute(
            "DELETE FROM shelves WHERE user_id = '\(user)' AND name IN ('Shelf 1', 'Shelf 2')")
        #expect(try await merged.execute(shelf).errors.isEmpty)
    }

    @Test func changeLogOfTheAccountHasTheMovedObjects() async throws {
        let app = try await Self.app()
        let account = try await app.makeReader()
        let cursor = try await account.requireValue(
            "{ changes { pageInfo { endCursor } } }", .null, "changes", "pageInfo", "endCursor")
        let guest = try await app.makeGuest()
        let shelf = try await guest.makeShelf("Liked")
        let book = try await guest.makeBook("Emma", shelves: [shelf])
        let merged = try await merge(guest, into: account)
        let page = try await merged.execute(
            "query($after: String) { changes(after: $after) { changes { kind nodeId } } }",
            ["after": cursor])
        let changes = page["changes", "changes"]?.list ?? []
        #expect(changes.contains(["kind": "CREATED", "nodeId": book]))
        #expect(changes.contains(["kind": "CREATED", "nodeId": shelf]))
    }

    @Test func preferencesFillThoseOfTheAccount() async throws {
        let app = try await Self.app()
        let account = try await app.makeReader()
        let guest = try await app.makeGuest()
        let update = "mutation($input: UpdateProfileInput!) { updateProfile(input: $input) { id } }"
        _ = try await account.requireValue(
            update, ["input": ["preferredGenres": ["Horror"]]], "updateProfile", "id")
        _ = try await guest.requireValue(
            update,
            [
                "input": [
                    "displayName": "Guest", "preferredGenres": ["Fantasy", "Horror"],
                    "timeZone": "Asia/Tokyo", "languages": ["ja"],
                ]
            ],
            "updateProfile", "id")
        let merged = try await merge(guest, into: account)
        let me = try await merged.execute(
            "{ me { displayName timeZone languages preferredGenres { name } } }")
        #expect(
            me["me"] == [
                "displayName": "Guest", "timeZone": "Asia/Tokyo", "languages": ["ja"],
                "preferredGenres": [["name": "Horror"], ["name": "Fantasy"]],
            ])
    }

    @Test func deletedBooksOfTheGuestCanBeRestored() async throws {
        let app = try await Self.app()
        let account = try await app.makeReader()
        let guest = try await app.makeGuest()
        let shelf = try await guest.makeShelf("Old")
        let book = try await guest.makeBook("Emma", status: "READ", shelves: [shelf])
        try await guest.review(book, text: "Good")
        _ = try await guest.requireValue(
            "mutation($id: ID!) { deleteBook(id: $id) { id } }", ["id": book], "deleteBook", "id")
        let merged = try await merge(guest, into: account)
        let restored = try await merged.execute(
            "mutation($id: ID!) { restoreBook(id: $id) { id review { text } shelves { name } } }",
            ["id": book])
        #expect(
            restored["restoreBook"] == [
                "id": book, "review": ["text": "Good"], "shelves": [["name": "Old"]],
            ])
    }

    @Test func importThatRunsContinuesInTheAccount() async throws {
        let app = try await Self.app()
        let account = try await app.makeReader()
        let guest = try await app.makeGuest()
        let file = "Title,Author,ISBN13,Exclusive Shelf\nEmma,Jane Austen,,to-read\n"
        let started = try await app.execute(
            """
            mutation($file: Upload!) { importLibrary(input: {file: $file, format: GOODREADS}) { id state } }
            """, ["file": UploadReference.value(0)], token: guest.token, uploads: [Array(file.utf8)]
        )
        let id = try #require(started["importLibrary", "id"])
        let merged = try await merge(guest, into: account)
        let worker = try await TestWorker.start(
            app.database, [ImportLibrary(covers: app.covers, canSearch: false)])
        try await waitUntil("the import is done") {
            let node = try await merged.execute(
                "query($id: ID!) { node(id: $id) { ... on Import { state } } }", ["id": id])
            return node["node", "state"] == "DONE"
        }
        await worker.stop()
        #expect(
            try await merged.execute("{ me { books { totalCount } } }")["me", "books", "totalCount"]
                == 1)
    }

    // MARK: - Covers

    private static let setCover = """
        mutation($book: ID!, $image: Upload!) { setCover(id: $book, input: {image: $image}) { id coverStatus } }
        """

    @Test func coversMoveWithTheirFiles() async throws {
        let app = try await TestApp.start(catalog: [])
        try await app.allowGuests()
        let account = try await app.makeReader()
        let guest = try await app.makeGuest()
        let (moved, shared, deleted) = (
            try await guest.makeBook("Moved"), try await guest.makeBook("Shared"),
            try await guest.makeBook("Deleted")
        )
        let kept = try await account.makeBook("Shared")
        for (reader, book, seed) in [
            (guest, moved, 1), (guest, shared, 2), (guest, deleted, 3), (account, kept, 4),
        ] as [(TestReader, Value, UInt64)] {
            let response = try await reader.setCover(Self.setCover, book, TestImage.png(seed: seed))
            #expect(response["setCover", "coverStatus"] == "READY")
        }
        _ = try await guest.requireValue(
            "mutation($id: ID!) { deleteBook(id: $id) { id } }", ["id": deleted], "deleteBook", "id"
        )
        let ownURL = try await account.requireValue(
            "query($id: ID!) { book(id: $id) { image { url } } }", ["id": kept], "book", "image",
            "url")
        let merged = try await merge(guest, into: account)

        // They count as storage before they are copied.
        let (owned, counted) = (
            try await app.database.count(
                """
                SELECT sum(cover_bytes(byte_counts))::bigint
                FROM stored_covers
                WHERE owner_id = '\(account.id.string ?? "")'
                """),
            try await app.database.count("SELECT sum(bytes)::bigint FROM tenant_storage")
        )
        #expect(owned == counted)
        #expect(
            try await app.database.count("SELECT sum(covers)::bigint FROM tenant_storage") == 3)
        let shown = try await merged.requireValue(
            "{ me { storage { usedBytes } } }", .null, "me", "storage", "usedBytes")
        #expect(shown == .int(counted))

        // A sweep between the merge and the copy keeps the files.
        let sweep = try await app.database.withConnection { connection in
            try connection.query(
                "SELECT count(*) FROM stored_covers WHERE user_id = '\(guest.id.string ?? "")'"
            ).int64(0, 0)
        }
        #expect(sweep == 2)
        let worker = try await TestWorker.start(app.database, [MoveCovers(covers: app.covers)])
        try await waitUntil("the covers are moved") {
            try await app.database.count(
                "SELECT count(*) FROM jobs WHERE kind = 'account.move_covers'") == 0
        }
        await worker.stop()
        let books = try await merged.execute(
            "query($moved: ID!, $kept: ID!) { moved: book(id: $moved) { coverStatus image { url } } kept: book(id: $kept) { image { url } } }",
            ["moved": moved, "kept": kept])
        #expect(books["moved", "coverStatus"] == "READY")
        #expect(books["kept", "image", "url"] == ownURL)
        let restored = try await merged.execute(
            "mutation($id: ID!) { restoreBook(id: $id) { coverStatus } }", ["id": deleted])
        #expect(restored["restoreBook", "coverStatus"] == "READY")

        #expect(
            try await app.covers.store.list(guest.id.string ?? "", of: .bookCovers).objects.isEmpty)
        let files = try await app.covers.store.list(account.id.string ?? "", of: .bookCovers)
            .objects
        #expect(files.count == 9)
        let (rows, used) = (
            try await app.database.count(
                "SELECT sum(cover_bytes(byte_counts))::bigint FROM stored_covers"),
            try await app.database.count("SELECT sum(bytes)::bigint FROM tenant_storage")
        )
        #expect(rows == used && rows > 0)
    }

    /// Whether the reader has chosen the cover of the book in the account, and of the same book of the guest, and whether the account
    /// gets the guest's.
    @Test(arguments: [
        ("OPEN_LIBRARY", "MANUAL_UPLOAD", true), ("WEB_SEARCH", "URL", true),
        ("MANUAL_UPLOAD", "MANUAL_UPLOAD", false), ("URL", "MANUAL_UPLOAD", false),
        ("GOOGLE_BOOKS", "OPEN_LIBRARY", false), ("MANUAL_UPLOAD", "OPEN_LIBRARY", false),
    ])
    func chosenCoversReplaceFoundOnes(own: String, ofGuest: String, isReplaced: Bool) async throws {
        let app = try await TestApp.start(catalog: [])
        try await app.allowGuests()
        let account = try await app.makeReader()
        let guest = try await app.makeGuest()
        let book = try await account.makeBook("Shared")
        for (reader, book, seed, source) in [
            (account, book, 1, own), (guest, try await guest.makeBook("Shared"), 2, ofGuest),
        ] as [(TestReader, Value, UInt64, String)] {
            _ = try await reader.setCover(Self.setCover, book, TestImage.png(seed: seed))
            try await app.database.execute(
                "UPDATE covers SET source = '\(source)' WHERE user_id = '\(reader.id.string ?? "")'"
            )
        }
        let merged = try await merge(guest, into: account)
        let query = "query($id: ID!) { book(id: $id) { coverStatus image { source } } }"
        // The book keeps its cover until the files are copied.
        let waiting = try await merged.execute(query, ["id": book])
        #expect(waiting["book"] == ["coverStatus": "READY", "image": ["source": .string(own)]])
        let worker = try await TestWorker.start(app.database, [MoveCovers(covers: app.covers)])
        try await waitUntil("the covers are moved") {
            try await app.database.count(
                "SELECT count(*) FROM jobs WHERE kind = 'account.move_covers'") == 0
        }
        await worker.stop()
        let source = isReplaced ? ofGuest : own
        let after = try await merged.execute(query, ["id": book])
        #expect(after["book"] == ["coverStatus": "READY", "image": ["source": .string(source)]])
        let (rows, used) = (
            try await app.database.count(
                "SELECT sum(cover_bytes(byte_counts))::bigint FROM stored_covers"),
            try await app.database.count("SELECT sum(bytes)::bigint FROM tenant_storage")
        )
        #expect(rows == used && rows > 0)
    }

    @Test func missingFilesDoNotStopTheOthers() async throws {
        let app = try await TestApp.start(catalog: [])
        try await app.allowGuests()
        let account = try await app.makeReader()
        let guest = try await app.makeGuest()
        let books = [try await guest.makeBook("One"), try await guest.makeBook("Two")]
        for book in books { _ = try await guest.setCover(Self.setCover, book, TestImage.png()) }
        let version = try await app.database.text(
            "SELECT version FROM covers WHERE book_id = '\(books[0].string ?? "")'")
        let key = try #require(
            ObjectKey(.bookCovers, folder: guest.id.string ?? "", name: books[0].string ?? ""))
        try await app.covers.store.remove(key, version: version)
        _ = try await merge(guest, into: account)
        let worker = try await TestWorker.start(app.database, [MoveCovers(covers: app.covers)])
        try await waitUntil("the covers are moved") {
            try await app.database.count(
                "SELECT count(*) FROM jobs WHERE kind = 'account.move_covers'") == 0
        }
        await worker.stop()
        #expect(
            try await app.database.text("SELECT string_agg(book_id::text, ' ') FROM covers")
                == books[1].string)
    }
}
