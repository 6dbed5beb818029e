import GraphQL
import GraphQLPostgres
import Postgres
import Requests

/// A quote from a book, or a thought about it.
enum Note {
    static let id = Column("n.id", .uuid)
    /// The maximum number of notes of a book. `create_notes` has the same limits.
    static let ofBookMax = 2_000
    /// The maximum number of notes of a library.
    static let ofLibraryMax = 100_000
    static let textCharactersMax = 10_000
    static let commentCharactersMax = 10_000
    static let chapterCharactersMax = 500
    private static let bookID = Column("n.book_id", .uuid)
    private static let createdAt = Column("n.created_at", .timestamp)
    private static let position = Column("n.position", .float)

    static let type: RowType = RowType(
        name: "Note", table: "notes n", scope: "n.user_id = $1", id: id,
        fields: [
            "id": .column(id),
            "book": .relation(
                RowRelation(
                    .one, Book.type, key: bookID, matching: "b.id",
                    from: "books b WHERE b.user_id = $1 AND b.id = $2")),
            "text": .column(Column("n.text", .text)),
            "comment": .column(Column("n.comment", .text)),
            "chapter": .column(Column("n.chapter", .text)),
            "color": .column(Column("n.color", .text)),
            "page": .column(Column(page, .integer)),
            "percent": .column(Column(percent, .float)),
            "seconds": .column(Column(seconds, .integer)),
            "given": .column(
                Column(
                    """
                    CASE
                        WHEN n.page IS NOT NULL THEN 'PAGE'
                        WHEN n.percent IS NOT NULL THEN 'PERCENT'
                        WHEN n.seconds IS NOT NULL THEN 'SECONDS'
                    END
                    """, .text)),
            "createdAt": .column(createdAt),
            "updatedAt": .column(Column("n.updated_at", .timestamp)),
        ])

    /// Returns an expression that needs the length of the book, as `b.page_count` and `l.seconds`.
    private static func withLength(_ expression: String) -> String {
        """
        (
            SELECT \(expression)
            FROM books b
            CROSS JOIN LATERAL (SELECT audio_length(b.user_id, b.id) AS seconds) l
            WHERE b.user_id = n.user_id AND b.id = n.book_id
        )
        """
    }

    private static let fraction =
        "progress_fraction(n.page, n.percent, n.seconds, b.page_count, l.seconds)"
    private static let page =
        "coalesce(n.page, \(withLength("round(\(fraction) * b.page_count)::int")))"
    private static let percent = "coalesce(n.percent, \(withLength("100 * \(fraction)")))"
    private static let seconds =
        "coalesce(n.seconds, \(withLength("round(\(fraction) * l.seconds)::int")))"

    /// The number of notes of a book, from `notes_of_book`.
    static let countOfBook = Column(
        "(SELECT count(*) FROM notes c WHERE c.user_id = b.user_id AND c.book_id = b.id)",
        .integer)

    /// Relies on this plan: all notes of the book are read from `notes_of_book` and sorted, because their order follows from the
    /// length of the book.
    static let ofBook = RowConnection(
        type, key: Book.id,
        orders: [
            RowOrder(
                name: "notes", columns: [.init(position), .init(createdAt), .init(id)],
                isDescending: false)
        ],
        source: { _, _ in
            .init(
                from: """
                    (
                        SELECT o.*, note_position(o.page, o.percent, o.seconds, b.page_count, l.seconds) AS position
                        FROM books b
                        CROSS JOIN LATERAL (SELECT audio_length(b.user_id, b.id) AS seconds) l
                        JOIN notes o ON o.user_id = b.user_id AND o.book_id = b.id
                        WHERE b.user_id = $1 AND b.id = k.id
                    ) n
                    WHERE true
                    """)
        })

    /// Relies on this plan: a page is read from `notes_of_user`, starting after the cursor. With `search`, the notes that
    /// `search_notes` finds are sorted, and only those of the page are read by key. With `color`, notes of other colors are read
    /// and skipped.
    static let ofUser = RowConnection(
        type, key: User.id,
        orders: [order("CREATED_DESC", isDescending: true), order("CREATED_ASC")],
        source: { arguments, order throws(BookplateError) in
            let color = arguments["color"]?.string
            guard let search = try arguments["search"]?.string.map(searchText) else {
                let from = "notes n WHERE n.user_id = $1"
                guard let color else { return .init(from: from) }
                return .init(from: "\(from) AND n.color = $5::label_color") { parameters in
                    parameters.append(text: color, as: .inferred)
                }
            }
            // A count needs no row of the outer join, so PostgreSQL removes it.
            let direction = order.isDescending ? " DESC" : ""
            return .init(
                from: """
                    (
                        SELECT *
                        FROM search_notes($5, $6::label_color)
                        ORDER BY created_at\(direction), id\(direction)
                    ) f
                    LEFT JOIN notes n ON n.user_id = $1 AND n.id = f.id
                    WHERE true
                    """,
                keys: ["f.created_at", "f.id"]
            ) { parameters in
                parameters.append(text: search)
                parameters.append(text: color, as: .inferred)
            }
        })

    private static func order(_ name: String, isDescending: Bool = false) -> RowOrder {
        RowOrder(
            name: name, columns: [.init(createdAt), .init(id)], isDescending: isDescending)
    }

    /// - Throws: `.badUserInput` if the text is blank or too long.
    private static func searchText(_ text: String) throws(BookplateError) -> String {
        try TextInput.line(
            text, field: "search", charactersMax: CatalogSearch.queryCharactersMax)
    }
}
