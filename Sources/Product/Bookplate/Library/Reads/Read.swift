import GraphQL
import GraphQLPostgres
import Postgres

/// One reading of a book.
enum Read {
    static let id = Column("r.id", .uuid)
    /// The maximum number of reads of a book; in SQL, `reads_of_book_max`.
    static let ofBookMax = 200
    static let noteCharactersMax = 10_000
    private static let bookID = Column("r.book_id", .uuid)
    private static let sortedOn = Column("r.sorted_on", .text)
    private static let createdAt = Column("r.created_at", .timestamp)

    static let type: RowType = RowType(
        name: "Read", table: "reads r", scope: "r.user_id = $1", id: id,
        fields: [
            "id": .column(id),
            "book": .relation(
                RowRelation(
                    .one, Book.type, key: bookID, matching: "b.id",
                    from: "books b WHERE b.user_id = $1 AND b.id = $2")),
            "startedOn": .column(Column("r.started_on", .text)),
            "finishedOn": .column(Column("r.finished_on", .text)),
            "outcome": .column(Column("r.outcome", .text)),
            "format": .column(Column("r.format", .text)),
            "lengthSeconds": .column(Column("r.length_seconds", .integer)),
            "note": .column(Column("r.note", .text)),
            "progress": .relation(ProgressEntry.latestOfRead),
            "progressEntries": .relation(ProgressEntry.ofRead),
            "createdAt": .column(createdAt),
            "updatedAt": .column(Column("r.updated_at", .timestamp)),
        ])

    private static let newestFirst = RowOrder(
        name: "reads", columns: [.init(sortedOn), .init(createdAt), .init(id)], isDescending: true)

    static let openOfBook = RowRelation(
        .one, type, key: Book.id, matching: "r.book_id",
        from: """
            reads r
            WHERE r.user_id = $1 AND r.book_id = $2 AND r.outcome = 'READING'
            """)

    /// Relies on this plan: a page is read from `reads_of_book`, starting after the cursor.
    static let ofBook = RowConnection(
        type, key: Book.id, orders: [newestFirst],
        source: { _, _ in .init(from: "reads r WHERE r.user_id = $1 AND r.book_id = k.id") })

    /// Relies on this plan: a page is read from `reads_of_user`, starting after the cursor. With `year`, the reads of other
    /// years are read and skipped.
    static let ofUser = RowConnection(
        type, key: User.id, orders: [newestFirst],
        source: { arguments, _ in
            let from = "\(type.table) WHERE \(type.scope)"
            guard let year = arguments["year"]?.int else { return .init(from: from) }
            return .init(from: "\(from) AND left(r.finished_on, 4) = $5") { parameters in
                parameters.append(text: "\(year)")
            }
        })
}
