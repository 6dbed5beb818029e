import GraphQL
import Postgres

struct ExportedNote: ExportedJSONItem {
    let id: UUID
    let json: Value

    init?(_ row: inout RowReader) {
        guard let id = row.uuid() else { return nil }
        self.id = id
        json = .object([
            .init("id", .id(id)), .init("bookId", .id(row.uuid())),
            .init("text", .text(row.text())), .init("comment", .text(row.text())),
            .init("chapter", .text(row.text())), .init("color", .text(row.text())),
            .init("page", .int(row.int32())),
            .init("percent", row.float8().map { .float($0) } ?? .null),
            .init("seconds", .int(row.int32())),
            .init("createdAt", .instant(row.timestamptz())),
            .init("updatedAt", .instant(row.timestamptz())),
        ])
    }

    /// `$5` is the id of the last book before the part, or NULL.
    static let page = TypedStatement<Self>(
        """
        SELECT n.id, n.book_id, n.text, n.comment, n.chapter, n.color, n.page, n.percent, n.seconds, n.created_at, n.updated_at
        FROM notes n
        WHERE n.user_id = $1
          AND \(PageRange.after("n.id"))
          AND ($4::uuid IS NULL OR n.book_id <= $4)
          AND ($5::uuid IS NULL OR n.book_id > $5)
        ORDER BY n.id
        LIMIT $3
        """)
}
