import GraphQL
import GraphQLPostgres
import Postgres
import Requests

/// A copy of a book that the reader owns, and its loan if it is lent.
enum BookCopy {
    static let id = Column("c.id", .uuid)
    /// The maximum number of copies of a book. `import_copies` has the same limit.
    static let ofBookMax = 20
    /// The maximum number of ended loans that a copy keeps.
    static let pastLoansMax = 20
    static let formatCharactersMax = 100
    static let placeCharactersMax = 100
    static let noteCharactersMax = 1_000
    static let borrowerCharactersMax = 200
    private static let bookID = Column("c.book_id", .uuid)

    static let type: RowType = RowType(
        name: "BookCopy", table: "book_copies c", scope: "c.user_id = $1", id: id,
        fields: [
            "id": .column(id),
            "book": .relation(
                RowRelation(
                    .one, Book.type, key: bookID, matching: "b.id",
                    from: "books b WHERE b.user_id = $1 AND b.id = $2")),
            "format": .column(Column("c.format", .text)),
            "place": .column(Column("c.place", .text)),
            "note": .column(Column("c.note", .text)),
            "loan": .relation(LoanOfCopy()),
            "pastLoans": .relation(CountList(Column("c.past_loans::text", .text))),
            "createdAt": .column(Column("c.created_at", .timestamp)),
            "updatedAt": .column(Column("c.updated_at", .timestamp)),
        ])

    static let loanFields: [String: FieldResolver] = [
        "id": .property, "borrower": .property, "lentOn": .property, "dueOn": .property,
        "returnedOn": .property,
    ]

    static let ofBook = RowRelation(
        .many, type, key: Book.id, matching: "c.book_id",
        from: """
            book_copies c
            WHERE c.user_id = $1 AND c.book_id = $2
            ORDER BY c.created_at, c.id
            """)

    /// Whether the reader owns the book.
    static let isOwned = Column(
        "EXISTS (SELECT FROM book_copies c WHERE c.user_id = b.user_id AND c.book_id = b.id)",
        .boolean)

    /// Relies on this plan: a page is read from `book_copies_lent`.
    static let lent = RowConnection(
        type, key: User.id,
        orders: [
            RowOrder(
                name: "due",
                columns: [.init(Column("coalesce(c.due_on, '~')", .text)), .init(id)],
                isDescending: false)
        ],
        source: { _, _ in
            .init(from: "book_copies c WHERE c.user_id = $1 AND c.loan_id IS NOT NULL")
        })
}

/// `BookCopy.loan`. It is null if the copy is not lent.
private struct LoanOfCopy: RowLoader {
    private static let loan = Column("loan_of_copy(c)::text", .text)

    var parentColumns: [Column] { [Self.loan] }

    func prepare(_ field: SelectedField) -> any PreparedLoad {
        Prepared(selection: field.selections[0])
    }

    private struct Prepared: RequestLoad {
        let selection: PlannedSelection

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: RequestContext
        ) throws(BookplateError) -> Load {
            guard let parents = parents as? RowBatch else { return .needsParents }
            var slots: [Slot] = []
            var loans: [PlainObject] = []
            for parent in 0..<parents.count {
                guard let cell = parents.cell(LoanOfCopy.loan, of: parent) else {
                    slots.append(.null)
                    continue
                }
                guard case .object(let members)? = try? parseJSON(Array(cell)) else {
                    throw .internalError
                }
                slots.append(.object(group: 0, index: Int32(loans.count)))
                loans.append(
                    PlainObject(
                        leaves: Dictionary(
                            members.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })))
            }
            return .ready(
                Children(slots: slots, groups: [.init(PlainBatch(loans, selection))]))
        }
    }
}
