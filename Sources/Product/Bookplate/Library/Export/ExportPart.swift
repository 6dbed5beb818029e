import Basics
import Postgres

/// A part of a library that is exported to an archive of its own, so that libraries of any size can be imported again.
struct ExportPart: Equatable {
    /// The rows of a part, in the order of their ids.
    struct IDRange: Equatable {
        /// The id of the last row before the part; nil if the part has the first rows.
        let after: UUID?
        /// The id of the last row of the part; nil if the part has all further rows.
        let last: UUID?
    }

    /// Whether the part contains the profile and the shelves.
    let isFirst: Bool
    /// The books with their reads, progress, notes, covers, and what e-readers have reported; nil if there are none.
    let books: IDRange?
    let swipes: IDRange?
    var bookCount = 0

    /// The maximum size of the books of a part: the estimated size of their JSON and that of their covers. The rest of 25 MiB is for one
    /// more book and for the archive itself.
    private static let bytesMax = 18_000_000
    /// The maximum number of the records of books, progress, and notes, and of the swipes.
    private static let recordsMax = 45_000

    /// The size of `bytes`: one byte with flags, and two ids of 16 bytes.
    static let byteCount = 33

    /// The flags, and the two ids of the range. A part with both books and swipes is the only one of its library, so both have the
    /// same range.
    var bytes: [UInt8] {
        let flags: UInt8 = (isFirst ? 1 : 0) | (books == nil ? 0 : 2) | (swipes == nil ? 0 : 4)
        let range = books ?? swipes
        let none = UUID(high: 0, low: 0)
        return [flags] + (range?.after ?? none).bytes + (range?.last ?? none).bytes
    }

    init(isFirst: Bool, books: IDRange?, swipes: IDRange?, bookCount: Int = 0) {
        self.isFirst = isFirst
        self.books = books
        self.swipes = swipes
        self.bookCount = bookCount
    }

    /// Returns nil if the bytes are not those of a part. The number of books is 0.
    init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount, bytes[0] < 8 else { return nil }
        func id(_ start: Int) -> UUID? {
            let id = bytes[start..<start + 16].withUnsafeBytes { UUID(bytes: $0) }
            return id == UUID(high: 0, low: 0) ? nil : id
        }
        let range = IDRange(after: id(1), last: id(17))
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
            let all = IDRange(after: nil, last: nil)
            return [
                ExportPart(
                    isFirst: true, books: all, swipes: all, bookCount: books.first?.count ?? 0)
            ]
        }
        var parts: [ExportPart] = []
        if books.isEmpty {
            // Documents of e-readers may have no book.
            parts.append(
                ExportPart(isFirst: true, books: IDRange(after: nil, last: nil), swipes: nil))
        }
        for (index, part) in books.enumerated() {
            parts.append(
                ExportPart(
                    isFirst: parts.isEmpty,
                    books: IDRange(
                        after: index == 0 ? nil : books[index - 1].last,
                        last: index == books.count - 1 ? nil : part.last), swipes: nil,
                    bookCount: part.count))
        }
        for index in swipes.indices {
            parts.append(
                ExportPart(
                    isFirst: parts.isEmpty, books: nil,
                    swipes: IDRange(
                        after: index == 0 ? nil : swipes[index - 1].last,
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

    /// Returns the end of each part with books.
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
                    + coalesce(octet_length(b.content_notes), 0)
                    + coalesce(octet_length(v.text), 0) + coalesce(c.byte_counts[2], 0)
                    + 250 * coalesce(n.notes, 0) + coalesce(n.bytes, 0) + coalesce(o.bytes, 0)
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
          LEFT JOIN (
            SELECT k.book_id, sum(octet_length(to_jsonb(k)::text)) AS bytes
            FROM book_copies k
            WHERE k.user_id = $1
            GROUP BY k.book_id
          ) o ON o.book_id = b.id
          WHERE b.user_id = $1
        ) s
        GROUP BY s.part
        ORDER BY s.part
        """)

    /// Returns the end of each part with swipes.
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
