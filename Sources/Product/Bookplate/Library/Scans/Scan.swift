import GraphQL
import GraphQLPostgres
import Postgres

/// An ISBN that the reader has scanned.
enum Scan {
    static let id = Column("s.id", .uuid)
    /// The maximum number of scans of a reader. `import_scans` and `merge_guest` have the same number.
    static let ofReaderMax = 1_000
    private static let cardID = Column(
        "(SELECT e.id FROM editions e WHERE e.isbn13 = s.isbn13)", .uuid)
    private static let bookID = Column(
        "(SELECT b.id FROM books b WHERE b.user_id = $1 AND b.isbn13 = s.isbn13)", .uuid)
    private static let scannedAt = Column("s.scanned_at", .timestamp)

    static let type: RowType = RowType(
        name: "Scan", table: "scans s", scope: "s.user_id = $1", id: id,
        fields: [
            "id": .column(id),
            "isbn": .column(Column("s.isbn13", .text)),
            "scannedAt": .column(scannedAt),
            "outcome": .column(Column("s.outcome", .text)),
            "card": .relation(
                RowRelation(
                    .one, FeedCard.type, key: cardID, matching: "e.id",
                    from: "editions e WHERE e.id = $2")),
            "book": .relation(
                RowRelation(
                    .one, Book.type, key: bookID, matching: "b.id",
                    from: "books b WHERE b.user_id = $1 AND b.id = $2")),
        ])

    /// Relies on this plan: a page is read from `scans_history`.
    static let ofUser = RowConnection(
        type, key: User.id,
        orders: [
            RowOrder(
                name: "scanned", columns: [.init(scannedAt), .init(id)], isDescending: true)
        ],
        source: { _, _ in .init(from: "scans s WHERE s.user_id = $1") })
}

/// The result of the lookup of a scanned ISBN.
enum ScanOutcome: String, CaseIterable {
    case found = "FOUND"
    case unknown = "UNKNOWN"
    case failed = "FAILED"
}
