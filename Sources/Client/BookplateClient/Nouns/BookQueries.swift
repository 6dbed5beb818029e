import GRDB

/// The order of a list of books.
public enum BookOrder: Sendable {
    /// The latest first.
    case added
    case title
    case author

    fileprivate var sql: String {
        switch self {
        case .added: "book.addedAt DESC, book.id DESC"
        case .title: "book.title COLLATE NOCASE, book.id"
        case .author: "book.author COLLATE NOCASE, book.title COLLATE NOCASE, book.id"
        }
    }
}

extension Books {
    /// The books in an order, now and after each change.
    ///
    /// - Parameters:
    ///   - status: only books with this status.
    ///   - shelf: only books on this shelf.
    ///   - limit: the maximum number of books. A list of a screen reads a hundred, not the whole library.
    public func all(
        status: ReadingStatus? = nil, shelf: String? = nil, by order: BookOrder = .added,
        limit: Int = 100
    ) -> AsyncValueObservation<[Book]> {
        library.values { try Self.fetch($0, status: status, shelf: shelf, by: order, limit: limit) }
    }

    /// A book, now and after each change. Nil while it is not in the library.
    public func book(_ id: String) -> AsyncValueObservation<Book?> {
        library.values { try LibraryState(db: $0).find(Book.self, id) }
    }

    /// Returns the books that have all words in title, subtitle, authors, or ISBN. The last word may be incomplete. The best match comes first.
    public func search(_ text: String, limit: Int = 50) throws -> [Book] {
        guard let pattern = FTS5Pattern(matchingAllPrefixesIn: text) else { return [] }
        return try library.reader.read { db in
            try Book.fetchAll(
                db,
                sql: """
                    SELECT book.* FROM book_search JOIN book ON book.rowid = book_search.rowid
                    WHERE book_search MATCH ? ORDER BY rank LIMIT ?
                    """, arguments: [pattern, limit])
        }
    }

    static func fetch(
        _ db: Database, status: ReadingStatus? = nil, shelf: String? = nil,
        by order: BookOrder = .added, limit: Int = 100
    ) throws -> [Book] {
        var conditions: [String] = []
        var arguments: StatementArguments = []
        if let status {
            conditions.append("book.status = ?")
            arguments += [status]
        }
        if let shelf {
            conditions.append("book.id IN (SELECT book FROM book_shelf WHERE shelf = ?)")
            arguments += [shelf]
        }
        let filter = conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND ")
        arguments += [limit]
        return try Book.fetchAll(
            db, sql: "SELECT book.* FROM book \(filter) ORDER BY \(order.sql) LIMIT ?",
            arguments: arguments)
    }

    /// The number of books with each status, and of finished reads by year.
    public struct Counts: Hashable, Sendable {
        /// The number of books with each status.
        public let books: [ReadingStatus: Int]
        /// A book that was finished twice in a year counts twice.
        public let finishedReads: [Int: Int]
    }

    /// The counts now and after each change.
    public func counts() -> AsyncValueObservation<Counts> {
        library.values { db in
            let books = try Row.fetchAll(
                db, sql: "SELECT status, count(*) AS number FROM book GROUP BY status")
            let reads = try Row.fetchAll(
                db,
                sql: """
                    SELECT CAST(substr(finishedOn, 1, 4) AS INTEGER) AS year, count(*) AS number FROM read
                    WHERE outcome = 'FINISHED' AND finishedOn IS NOT NULL GROUP BY year
                    """)
            return Counts(
                books: Dictionary(uniqueKeysWithValues: books.map { ($0["status"], $0["number"]) }),
                finishedReads: Dictionary(
                    uniqueKeysWithValues: reads.map { ($0["year"], $0["number"]) }))
        }
    }
}
