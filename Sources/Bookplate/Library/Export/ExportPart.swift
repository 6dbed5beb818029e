import Basics
import Postgres

/// A part of a library that is exported to an archive of its own, so that libraries of any size can be imported again.
struct ExportPart: Equatable {
    /// Rows with ids between two others. Nil is the beginning or the end.
    struct Range: Equatable {
        /// The id before the first one.
        let first: UUID?
        let last: UUID?
    }

    /// Whether the part contains the profile and the shelves.
    let isFirst: Bool
    /// The books with their reads, progress, notes, covers, and what e-readers have reported; nil if there are none.
    let books: Range?
    let swipes: Range?
    var bookCount = 0

    /// The maximum size of the books of a part: the estimated size of their JSON and that of their covers. The rest of 25 MB is for one
    /// more book and for the archive itself.
    private static let bytesMax = 18_000_000
    /// The maximum number of the records of books, progress, and notes, and of the swipes.
    private static let recordsMax = 45_000

    static let byteCount = 33

    /// The flags, and the first and the last id. A part with both books and swipes is the only one of its library, so both have the
    /// same range.
    var bytes: [UInt8] {
        let flags: UInt8 = (isFirst ? 1 : 0) | (books == nil ? 0 : 2) | (swipes == nil ? 0 : 4)
        let range = books ?? swipes
        let none = UUID(high: 0, low: 0)
        return [flags] + (range?.first ?? none).bytes + (range?.last ?? none).bytes
    }

    init(isFirst: Bool, books: Range?, swipes: Range?, bookCount: Int = 0) {
        self.isFirst = isFirst
        self.books = books
        self.swipes = swipes
        self.bookCount = bookCount
    }

    init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount, bytes[0] < 8 else { return nil }
        func id(_ start: Int) -> UUID? {
            let id = bytes[start..<start + 16].withUnsafeBytes { UUID(bytes: $0) }
            return id == UUID(high: 0, low: 0) ? nil : id
        }
        let range = Range(first: id(1), last: id(17))
        isFirst = bytes[0] & 1 != 0
        books = bytes[0] & 2 != 0 ? range : nil
        swipes = bytes[0] & 4 != 0 ? range : nil
    }

    /// Returns the parts, given the last ids of the books and of the swipes of each.
    static func parts(
        books: [(last: UUID, count: Int)], swipes: [(last: UUID, count: Int)]
    ) -> [ExportPart] {
        if books.count < 2, swipes.count < 2 {
            // New books may be added until the download.
            let all = Range(first: nil, last: nil)
            return [
                ExportPart(
                    isFirst: true, books: all, swipes: all, bookCount: books.first?.count ?? 0)
            ]
        }
        var parts: [ExportPart] = []
        if books.isEmpty {
            // Documents of e-readers may have no book.
            parts.append(
                ExportPart(isFirst: true, books: Range(first: nil, last: nil), swipes: nil))
        }
        for (index, part) in books.enumerated() {
            parts.append(
                ExportPart(
                    isFirst: parts.isEmpty,
                    books: Range(
                        first: index == 0 ? nil : books[index - 1].last,
                        last: index == books.count - 1 ? nil : part.last), swipes: nil,
                    bookCount: part.count))
        }
        for index in swipes.indices {
            parts.append(
                ExportPart(
                    isFirst: parts.isEmpty, books: nil,
                    swipes: Range(
                        first: index == 0 ? nil : swipes[index - 1].last,
                        last: index == swipes.count - 1 ? nil : swipes[index].last)))
        }
        return parts
    }

    /// The last row of a part, in the order of the parts.
    struct End: RowDecodable {
        let last: UUID
        let count: Int

        init?(_ row: inout RowReader) {
            guard let last = row.uuid(), let count = row.int32() else { return nil }
            self.last = last
            self.count = Int(count)
        }
    }

    static let ofBooks = TypedStatement<End>(
        """
        SELECT (array_agg(s.id ORDER BY s.id DESC))[1], count(*)::int
        FROM (
          SELECT
            b.id,
            floor(
              sum(
                greatest(
                  (
                    1000 + 250 * coalesce(r.reads, 0) + 250 * coalesce(r.entries, 0) + coalesce(r.notes, 0)
                    + coalesce(octet_length(b.description), 0) + coalesce(octet_length(b.private_notes), 0)
                    + coalesce(octet_length(v.text), 0) + coalesce(c.byte_counts[2], 0)
                    + 250 * coalesce(n.notes, 0) + coalesce(n.bytes, 0)
                  )::float8 / \(bytesMax),
                  (1 + coalesce(r.entries, 0) + coalesce(n.notes, 0))::float8 / \(recordsMax)
                )
              ) OVER (ORDER BY b.id)
            ) AS part
          FROM books b
          LEFT JOIN reviews v ON v.user_id = $1 AND v.book_id = b.id
          LEFT JOIN covers c ON c.user_id = $1 AND c.book_id = b.id
          LEFT JOIN (
            SELECT d.book_id, count(*) AS reads, sum(p.entries) AS entries,
              sum(coalesce(octet_length(d.note), 0) + coalesce(p.notes, 0)) AS notes
            FROM reads d
            LEFT JOIN (
              SELECT e.read_id, count(*) AS entries, sum(octet_length(e.note)) AS notes
              FROM progress_entries e
              WHERE e.user_id = $1
              GROUP BY e.read_id
            ) p ON p.read_id = d.id
            WHERE d.user_id = $1
            GROUP BY d.book_id
          ) r ON r.book_id = b.id
          LEFT JOIN (
            SELECT t.book_id, count(*) AS notes,
              sum(octet_length(concat(t.text, t.comment, t.chapter))) AS bytes
            FROM notes t
            WHERE t.user_id = $1
            GROUP BY t.book_id
          ) n ON n.book_id = b.id
          WHERE b.user_id = $1
        ) s
        GROUP BY s.part
        ORDER BY s.part
        """)

    static let ofSwipes = TypedStatement<End>(
        """
        SELECT (array_agg(s.edition_id ORDER BY s.edition_id DESC))[1], count(*)::int
        FROM (
          SELECT edition_id, row_number() OVER (ORDER BY edition_id) / \(recordsMax) AS part
          FROM current_swipes
          WHERE user_id = $1
        ) s
        GROUP BY s.part
        ORDER BY s.part
        """)
}
