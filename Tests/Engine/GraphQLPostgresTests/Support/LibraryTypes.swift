import GraphQL
import GraphQLPostgres

/// The schema of a small library. Each user sees only the rows with their own `user_id`.
let librarySDL = """
    type Query {
      me: User
      author(id: ID!): Author
      book(id: ID!): Book
    }

    type User {
      id: ID!
      name: String!
      authors: [Author!]!
    }

    type Author {
      id: ID!
      name: String!
      books: [Book!]!
      bookPages(first: Int, after: String, orderBy: BookOrder = TITLE, isRead: Boolean): BookConnection
    }

    type Book {
      id: ID!
      title: String!
      pageCount: Int
      rating: Float
      isRead: Boolean!
      tags: [String!]!
      addedAt: String!
      label: String
      print: Print!
      author: Author
      review: Review
      failingReview: Review
    }

    type Print {
      pageCount: Int
      label: String
      author: Author
    }

    type Review {
      id: ID!
      text: String!
      book: Book!
    }

    enum BookOrder { TITLE ADDED_AT }

    type BookConnection {
      edges: [BookEdge!]!
      nodes: [Book!]!
      pageInfo: PageInfo!
      totalCount: Int!
    }

    type BookEdge {
      cursor: String!
      node: Book!
    }

    type PageInfo {
      hasNextPage: Boolean!
      hasPreviousPage: Boolean!
      startCursor: String
      endCursor: String
    }
    """

let userID = Column("u.id", .uuid)
let authorID = Column("a.id", .uuid)
let bookID = Column("b.id", .uuid)
let bookTitle = Column("b.title", .text)
let bookPageCount = Column("b.page_count", .integer)
let bookIsRead = Column("b.is_read", .boolean)
let bookAddedAt = Column("b.added_at", .timestamp)

let userType: RowType = RowType(
    name: "User", table: "users u", scope: "u.id = $1", id: userID,
    fields: [
        "id": .column(userID),
        "name": .column(Column("u.name", .text)),
        "authors": .relation(
            RowRelation(
                .many, authorType, key: userID, matching: "a.user_id",
                from: "authors a WHERE a.user_id = $1 AND a.user_id = $2 ORDER BY a.name")),
    ])

let authorType: RowType = RowType(
    name: "Author", table: "authors a", scope: "a.user_id = $1", id: authorID,
    fields: [
        "id": .column(authorID),
        "name": .column(Column("a.name", .text)),
        "books": .relation(
            RowRelation(
                .many, bookType, key: authorID, matching: "b.author_id",
                from: """
                    books b
                    WHERE b.user_id = $1 AND b.author_id = $2
                    ORDER BY b.title, b.id
                    """)),
        "bookPages": .relation(
            RowConnection(bookType, key: authorID, orders: [byTitle, byDate]) { arguments, _ in
                RowConnection.Source(
                    from: """
                        books b
                        WHERE b.user_id = $1 AND b.author_id = k.id
                            AND ($5 IS NULL OR b.is_read = $5)
                        """,
                    bind: { $0.append(bool: arguments["isRead"]?.boolean) })
            }),
    ])

let byTitle = RowOrder(
    name: "TITLE", columns: [.init(bookTitle), .init(bookID)], isDescending: false)
let byDate = RowOrder(
    name: "ADDED_AT", columns: [.init(bookAddedAt), .init(bookID)], isDescending: true)

let bookType: RowType = RowType(
    name: "Book", table: "books b", scope: "b.user_id = $1", id: bookID,
    fields: [
        "id": .column(bookID),
        "title": .column(bookTitle),
        "pageCount": .column(bookPageCount),
        "rating": .column(Column("b.rating", .float)),
        "isRead": .column(bookIsRead),
        "tags": .column(Column("b.tags", .texts)),
        "addedAt": .column(bookAddedAt),
        "label": labelOfBook,
        "print": .embedded(printFields),
        "author": authorOfBook,
        "review": .relation(
            RowRelation(
                .one, reviewType, key: bookID, matching: "r.book_id",
                from: "reviews r WHERE r.user_id = $1 AND r.book_id = $2")),
        // The database reports a division by zero for each review that it finds.
        "failingReview": .relation(
            RowRelation(
                .one, reviewType, key: bookID, matching: "r.book_id",
                from: """
                    reviews r
                    WHERE r.user_id = $1 AND r.book_id = $2
                        AND 1 / (length(r.text) - length(r.text)) = 1
                    """)),
    ])

/// An object that is embedded in the rows of books.
let printFields: [String: RowField] = [
    "pageCount": .column(bookPageCount), "label": labelOfBook, "author": authorOfBook,
]

private let labelOfBook = RowField.computed([bookTitle, bookPageCount]) { cells, writer in
    guard let title = cells.text(0), let pageCount = cells[1] else { return .null }
    let number = Int32(bigEndian: pageCount.loadUnaligned(as: Int32.self))
    writer.write("\(title), \(number) pages")
    return .value
}

private let authorOfBook = RowField.relation(
    RowRelation(
        .one, authorType, key: Column("b.author_id", .uuid), matching: "a.id",
        from: "authors a WHERE a.user_id = $1 AND a.id = $2"))

let reviewType: RowType = RowType(
    name: "Review", table: "reviews r", scope: "r.user_id = $1", id: Column("r.id", .uuid),
    fields: [
        "id": .column(Column("r.id", .uuid)),
        "text": .column(Column("r.text", .text)),
        "book": .relation(
            RowRelation(
                .one, bookType, key: Column("r.book_id", .uuid), matching: "b.id",
                from: "books b WHERE b.user_id = $1 AND b.id = $2")),
    ])

struct LibraryResolvers: ResolverSource {
    func resolver(for field: FieldDefinition, of type: TypeDefinition) -> FieldResolver? {
        switch (type.name, field.name) {
        case ("Query", "me"): .load(RowLookup.caller(userType))
        case ("Query", "author"): .load(RowLookup.byID(authorType))
        case ("Query", "book"): .load(RowLookup.byID(bookType))
        case ("User", let name): userType.fields[name]?.resolver
        case ("Author", let name): authorType.fields[name]?.resolver
        case ("Book", let name): bookType.fields[name]?.resolver
        case ("Print", let name): printFields[name]?.resolver
        case ("Review", let name): reviewType.fields[name]?.resolver
        case ("BookConnection", let name): ConnectionField.connectionResolvers[name]
        case ("BookEdge", let name): ConnectionField.edgeResolvers[name]
        case ("PageInfo", let name): ConnectionField.pageInfoResolvers[name]
        default: nil
        }
    }
}
