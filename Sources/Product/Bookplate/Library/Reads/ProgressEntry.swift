import GraphQL
import GraphQLPostgres
import Postgres

/// How far the reader was at a point in time.
enum ProgressEntry {
    static let id = Column("p.id", .uuid)
    private static let readID = Column("p.read_id", .uuid)
    private static let at = Column("p.at", .timestamp)

    static let type: RowType = RowType(
        name: "ProgressEntry", table: "progress_entries p", scope: "p.user_id = $1", id: id,
        fields: [
            "id": .column(id),
            "read": .relation(
                RowRelation(
                    .one, Read.type, key: readID, matching: "r.id",
                    from: "reads r WHERE r.user_id = $1 AND r.id = $2")),
            "at": .column(at),
            "page": .column(Column(page, .integer)),
            "percent": .column(Column(percent, .float)),
            "seconds": .column(Column(seconds, .integer)),
            "given": .column(
                Column(
                    """
                    CASE
                        WHEN p.page IS NOT NULL THEN 'PAGE'
                        WHEN p.percent IS NOT NULL THEN 'PERCENT'
                        ELSE 'SECONDS'
                    END
                    """, .text)),
            "note": .column(Column("p.note", .text)),
            "createdAt": .column(Column("p.created_at", .timestamp)),
            "updatedAt": .column(Column("p.updated_at", .timestamp)),
        ])

    /// Returns an expression that needs the length of the book, as `b.page_count` and `r.length_seconds`.
    private static func withLength(_ expression: String) -> String {
        """
        (
            SELECT \(expression)
            FROM reads r
            JOIN books b ON b.user_id = r.user_id AND b.id = r.book_id
            WHERE r.user_id = p.user_id AND r.id = p.read_id
        )
        """
    }

    private static let fraction =
        "progress_fraction(p.page, p.percent, p.seconds, b.page_count, r.length_seconds)"
    private static let page =
        "coalesce(p.page, \(withLength("round(\(fraction) * b.page_count)::int")))"
    private static let percent = "coalesce(p.percent, \(withLength("100 * \(fraction)")))"
    private static let seconds =
        "coalesce(p.seconds, \(withLength("round(\(fraction) * r.length_seconds)::int")))"

    /// Relies on this plan: the last row of `progress_entries_of_read` for each read.
    static let latestOfRead = RowRelation(
        .one, type, key: Read.id, matching: "p.read_id",
        from: """
            reads of_read
            CROSS JOIN LATERAL (
                SELECT *
                FROM progress_entries l
                WHERE l.user_id = $1 AND l.read_id = of_read.id
                ORDER BY l.at DESC, l.id DESC
                LIMIT 1
            ) p
            WHERE of_read.user_id = $1 AND of_read.id = $2
            """)

    /// Relies on this plan: a page is read from `progress_entries_of_read`, starting after the cursor.
    static let ofRead = RowConnection(
        type, key: Read.id,
        orders: [RowOrder(name: "progress", columns: [.init(at), .init(id)], isDescending: true)],
        source: { _, _ in
            .init(from: "progress_entries p WHERE p.user_id = $1 AND p.read_id = k.id")
        })
}
