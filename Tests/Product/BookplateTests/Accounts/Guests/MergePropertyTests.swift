import Postgres
import TestBasics
import TestSupport
import Testing

@testable import Bookplate

/// Merges of generated libraries: nothing is lost, nothing is there twice, and a repetition changes nothing.
@Suite struct MergePropertyTests {
    static let app = Shared {
        let app = try await TestApp.start()
        try await app.allowGuests(books: 1000)
        return app
    }

    @Test(arguments: 0..<40 as Range<UInt64>)
    func mergeIsTheUnionOfBothLibraries(seed: UInt64) async throws {
        let app = try await Self.app()
        let account = try await app.makeReader()
        let guest = try await app.makeGuest()
        let (owner, guestID) = (account.id.string ?? "", guest.id.string ?? "")
        var random = SeededGenerator(seed)
        // Both libraries use some of the same ids, as of a device that sent its objects twice.
        let libraries = GeneratedLibraries(&random)
        let sql = libraries.sql(for: owner, &random) + libraries.sql(for: guestID, &random)
        let expected = try await app.database.withConnection { connection in
            try connection.execute(sql)
            return try LibraryFacts(of: owner, connection).union(
                LibraryFacts(of: guestID, connection))
        }
        let response = try await app.signIn(
            token: app.identityToken(subject: account.subject), as: guest)
        #expect(response["signIn", "user", "id"] == account.id)
        let (merged, problems) = try await app.database.withConnection { connection in
            (
                try LibraryFacts(of: owner, connection),
                try LibraryFacts.problems(of: owner, connection)
            )
        }
        #expect(merged == expected)
        #expect(problems == [])
        #expect(
            try await app.database.count("SELECT count(*) FROM users WHERE id = '\(guestID)'") == 0)

        let dump = try await app.database.withConnection { try LibraryFacts.dump(of: owner, $0) }
        let again = try await app.signIn(
            token: app.identityToken(subject: account.subject), as: guest)
        #expect(again["signIn", "user", "id"] == account.id)
        #expect(
            try await app.database.withConnection { try LibraryFacts.dump(of: owner, $0) } == dump)
    }
}

/// Generates the rows of two libraries that have books, reads, and other objects in common.
private struct GeneratedLibraries {
    /// The ids that both libraries can use, by kind and number.
    private let sharedIDs: [UUID]
    private static let titlesMax = 9

    init(_ random: inout SeededGenerator) {
        sharedIDs = (0..<20).map { _ in .random(&random) }
    }

    /// Returns the statements that insert a library.
    func sql(for user: String, _ random: inout SeededGenerator) -> String {
        var statements: [String] = ["SELECT set_config('app.user_id', '\(user)', false)"]
        var used: Set<UUID> = []
        func id(_ random: inout SeededGenerator) -> UUID {
            let id = Bool.random(using: &random) ? sharedIDs.randomElement(using: &random) : nil
            guard let id, used.insert(id).inserted else { return .random(&random) }
            return id
        }
        var shelves: [UUID] = []
        for name in ["Liked", "Holiday", "Old"] where Bool.random(using: &random) {
            let shelf = id(&random)
            shelves.append(shelf)
            statements.append(
                "INSERT INTO shelves (user_id, id, name, position) VALUES ('\(user)', '\(shelf)', '\(name)', \(shelves.count))"
            )
        }
        for number in 1...Self.titlesMax where Bool.random(using: &random) {
            let book = id(&random)
            // A book that the catalog has, with its edition, or one without an ISBN or without an edition.
            let form = Int.random(in: 0..<3, using: &random)
            let isbn = form == 1 ? "NULL" : "'\(TestCatalog.isbn(number))'"
            let edition =
                form == 0
                ? "(SELECT id FROM editions WHERE isbn13 = '\(TestCatalog.isbn(number))')" : "NULL"
            let notes = optional("'Private \(Int.random(in: 0..<3, using: &random))'", &random)
            statements.append(
                """
                INSERT INTO books (user_id, id, edition_id, title, authors, isbn13, private_notes)
                VALUES ('\(user)', '\(book)', \(edition), 'Card \(number)', '{Author}', \(isbn), \(notes))
                """)
            for shelf in shelves where Bool.random(using: &random) {
                statements.append(
                    "INSERT INTO shelf_books (user_id, shelf_id, book_id, added_at) SELECT '\(user)', '\(shelf)', id, added_at FROM books WHERE user_id = '\(user)' AND id = '\(book)'"
                )
            }
            for read in 0..<Int.random(in: 0..<4, using: &random) {
                let readID = id(&random)
                let year = optional("'20\(Int.random(in: 10..<13, using: &random))'", &random)
                let isOpen = read == 0 && Bool.random(using: &random)
                statements.append(
                    """
                    INSERT INTO reads (user_id, id, book_id, started_on, finished_on, outcome, note)
                    VALUES ('\(user)', '\(readID)', '\(book)', \(isOpen ? "NULL" : year), \(isOpen ? "NULL" : year),
                        '\(isOpen ? "READING" : "FINISHED")', \(optional("'Note \(read)'", &random)))
                    """)
                if isOpen {
                    statements.append(
                        "UPDATE books SET status = 'READING' WHERE user_id = '\(user)' AND id = '\(book)'"
                    )
                }
                for _ in 0..<Int.random(in: 0..<3, using: &random) {
                    let day = Int.random(in: 1..<6, using: &random)
                    statements.append(
                        """
                        INSERT INTO progress_entries (user_id, id, read_id, at, page)
                        VALUES ('\(user)', '\(id(&random))', '\(readID)', '2026-01-0\(day)', \(day * 10))
                        """)
                }
            }
            if Bool.random(using: &random) {
                let text = optional("'Review \(Int.random(in: 0..<2, using: &random))'", &random)
                statements.append(
                    """
                    INSERT INTO reviews (user_id, book_id, id, quarter_stars, text)
                    VALUES ('\(user)', '\(book)', '\(id(&random))', 16, \(text))
                    """)
            }
            for _ in 0..<Int.random(in: 0..<3, using: &random) {
                statements.append(
                    """
                    INSERT INTO notes (user_id, id, book_id, text, page)
                    VALUES ('\(user)', '\(id(&random))', '\(book)', 'Quote \(Int.random(in: 0..<4, using: &random))', 7)
                    """)
            }
            for _ in 0..<Int.random(in: 0..<3, using: &random) {
                statements.append(
                    """
                    INSERT INTO book_copies (user_id, id, book_id, place)
                    VALUES ('\(user)', '\(UUID.random(&random))', '\(book)', 'Place \(Int.random(in: 0..<4, using: &random))')
                    """)
            }
            for action in ["LIKE", "SKIP"] where Bool.random(using: &random) {
                statements.append(
                    """
                    INSERT INTO swipes (user_id, edition_id, swiped_at, action)
                    SELECT '\(user)', id, '2026-02-0\(Int.random(in: 1..<4, using: &random))', '\(action)'
                    FROM editions WHERE isbn13 = '\(TestCatalog.isbn(number))'
                    ON CONFLICT DO NOTHING
                    """)
            }
        }
        for year in 2024...2026 where Bool.random(using: &random) {
            statements.append(
                "INSERT INTO reading_goals (user_id, id, year, unit, target) VALUES ('\(user)', '\(id(&random))', \(year), 'BOOKS', 12)"
            )
        }
        for name in ["Ada", "Bob", "Eve"] where Bool.random(using: &random) {
            statements.append(
                "INSERT INTO followed_authors (user_id, person_id, name) VALUES ('\(user)', author_id('\(name)'), '\(name)')"
            )
        }
        for number in 1...4 where Bool.random(using: &random) {
            // The same device may have sent a scan before and after the reader became a guest.
            statements.append(
                """
                INSERT INTO scans (user_id, id, isbn13, scanned_at, outcome)
                VALUES ('\(user)', md5('scan \(number)')::uuid, '\(TestCatalog.isbn(number))', '2026-01-0\(number)', 'FOUND')
                """)
        }
        return statements.map { $0 + ";\n" }.joined()
    }

    private func optional(_ value: String, _ random: inout SeededGenerator) -> String {
        Bool.random(using: &random) ? value : "NULL"
    }
}

extension UUID {
    fileprivate static func random(_ random: inout SeededGenerator) -> UUID {
        UUID(high: random.next() & ~0xF000 | 0x4000, low: random.next() & ~(3 << 62) | 2 << 62)
    }
}

/// The contents of a library without its ids, each with the number of its occurrences.
private struct LibraryFacts: Equatable {
    private var counts: [String: Int] = [:]

    /// Each query returns texts. Books are named by their titles.
    private static let queries = [
        "SELECT 'book ' || title FROM books WHERE user_id = $1",
        "SELECT 'shelf ' || name FROM shelves WHERE user_id = $1",
        """
        SELECT 'on shelf ' || s.name || ' ' || b.title
        FROM shelf_books sb
        JOIN shelves s ON s.user_id = $1 AND s.id = sb.shelf_id
        JOIN books b ON b.user_id = $1 AND b.id = sb.book_id
        WHERE sb.user_id = $1
        """,
        """
        SELECT concat_ws(' ', 'read', b.title, r.outcome, r.started_on, r.finished_on)
        FROM reads r JOIN books b ON b.user_id = $1 AND b.id = r.book_id WHERE r.user_id = $1
        """,
        "SELECT concat_ws(' ', 'swipe', edition_id, swiped_at) FROM swipes WHERE user_id = $1",
        "SELECT 'goal ' || year FROM reading_goals WHERE user_id = $1",
        "SELECT 'follows ' || name FROM followed_authors WHERE user_id = $1",
        "SELECT concat_ws(' ', 'scan', isbn13, scanned_at, outcome) FROM scans WHERE user_id = $1",
    ]

    /// Contents that count once, however often a library has them: one occurrence is enough to keep them.
    private static let texts = [
        """
        SELECT DISTINCT concat_ws(' ', 'text', b.title, t.text)
        FROM books b
        JOIN LATERAL (
            SELECT b.private_notes AS text
            UNION ALL SELECT text FROM reviews WHERE user_id = $1 AND book_id = b.id
            UNION ALL SELECT text FROM notes WHERE user_id = $1 AND book_id = b.id
            UNION ALL SELECT comment FROM notes WHERE user_id = $1 AND book_id = b.id
            UNION ALL SELECT place FROM book_copies WHERE user_id = $1 AND book_id = b.id
            UNION ALL SELECT note FROM reads WHERE user_id = $1 AND book_id = b.id
        ) t ON t.text IS NOT NULL
        WHERE b.user_id = $1
        """,
        """
        SELECT DISTINCT concat_ws(' ', 'progress', b.title, r.outcome, r.started_on, p.at, p.page)
        FROM progress_entries p
        JOIN reads r ON r.user_id = $1 AND r.id = p.read_id
        JOIN books b ON b.user_id = $1 AND b.id = r.book_id
        WHERE p.user_id = $1
        """,
        "SELECT DISTINCT 'review ' || b.title FROM reviews r JOIN books b ON b.user_id = $1 AND b.id = r.book_id WHERE r.user_id = $1",
    ]

    init(of user: String, _ connection: AdminConnection) throws {
        for query in Self.queries + Self.texts {
            let rows = try connection.query(
                query.replacing("$1", with: "'\(user)'"))
            for row in 0..<rows.count { counts[rows.text(row, 0) ?? "", default: 0] += 1 }
        }
    }

    /// Returns the contents of both: as often as the library that has more of them.
    func union(_ other: LibraryFacts) -> LibraryFacts {
        var union = self
        union.counts.merge(other.counts) { max($0, $1) }
        return union
    }

    /// Returns violations of what always holds for a library.
    static func problems(of user: String, _ connection: AdminConnection) throws -> [String] {
        let rows = try connection.query(
            """
            SELECT 'an open read of a book that is not being read: ' || b.title
            FROM books b JOIN reads r ON r.user_id = b.user_id AND r.book_id = b.id AND r.outcome = 'READING'
            WHERE b.user_id = '\(user)' AND b.status NOT IN ('READING', 'PAUSED')
            UNION ALL
            SELECT 'a copy of added_at differs: ' || b.title
            FROM shelf_books s JOIN books b ON b.user_id = s.user_id AND b.id = s.book_id
            WHERE s.user_id = '\(user)' AND s.added_at <> b.added_at
            UNION ALL
            SELECT 'not in the change log: ' || id
            FROM (
                SELECT id FROM books WHERE user_id = '\(user)' UNION ALL SELECT id FROM shelves WHERE user_id = '\(user)'
                UNION ALL SELECT id FROM reads WHERE user_id = '\(user)' UNION ALL SELECT id FROM notes WHERE user_id = '\(user)'
                UNION ALL SELECT id FROM progress_entries WHERE user_id = '\(user)'
                UNION ALL SELECT id FROM reading_goals WHERE user_id = '\(user)'
                UNION ALL SELECT person_id FROM followed_authors WHERE user_id = '\(user)'
            ) object
            WHERE id NOT IN (SELECT id FROM changes WHERE user_id = '\(user)')
            UNION ALL
            SELECT 'an id that two objects have: ' || id
            FROM (
                SELECT id FROM books WHERE user_id = '\(user)' UNION ALL SELECT id FROM shelves WHERE user_id = '\(user)'
                UNION ALL SELECT id FROM reads WHERE user_id = '\(user)' UNION ALL SELECT id FROM notes WHERE user_id = '\(user)'
                UNION ALL SELECT id FROM progress_entries WHERE user_id = '\(user)'
                UNION ALL SELECT id FROM reviews WHERE user_id = '\(user)'
            ) object
            GROUP BY id HAVING count(*) > 1
            """)
        let counts = try connection.texts(ReadingRecount.differences(of: user))
        return counts + (0..<rows.count).map { rows.text($0, 0) ?? "" }
    }

    /// Returns all rows of a library.
    static func dump(of user: String, _ connection: AdminConnection) throws -> [String] {
        try [
            "books", "shelves", "shelf_books", "reads", "progress_entries", "reviews", "notes",
            "book_copies", "swipes", "reading_goals", "followed_authors", "scans",
            "changes",
        ]
        .flatMap { table in
            let rows = try connection.query(
                "SELECT to_jsonb(t)::text FROM \(table) t WHERE user_id = '\(user)' ORDER BY 1")
            return (0..<rows.count).map { rows.text($0, 0) ?? "" }
        }
    }
}
