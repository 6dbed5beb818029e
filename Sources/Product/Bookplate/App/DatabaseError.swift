import Postgres

/// The errors that the SQL functions of this product raise; the top of `migrations/functions/accounts.sql` lists them.
extension SQLState {
    static let sessionEnded = SQLState(rawValue: "BP401")
    /// The message is for the user, as are those of `conflict` and `quotaExceeded`.
    static let notFound = SQLState(rawValue: "BP404")
    static let conflict = SQLState(rawValue: "BP409")
    /// The identity token was used before.
    static let tokenReused = SQLState(rawValue: "BP411")
    /// The notification from Apple was processed before.
    static let notificationProcessed = SQLState(rawValue: "BP412")
    package static let quotaExceeded = SQLState(rawValue: "BP413")
    /// The detail is the number of seconds to wait.
    static let tooManySignIns = SQLState(rawValue: "BP429")
}

extension BookplateError {
    /// Converts a database error that the client's input has caused: an error that an SQL function raises, or a violated
    /// constraint, which is recognized by its name.
    ///
    /// - Returns: nil for all other errors, which are the server's fault.
    init?(_ error: PostgresError) {
        guard case .server(let server) = error else { return nil }
        switch server.sqlState {
        case .sessionEnded, .tokenReused: self = .unauthenticated
        case .tooManySignIns:
            self = .rateLimited(retryAfterSeconds: server.detail.flatMap { Int($0) } ?? 60)
        case .notFound: self = .notFound(server.message)
        case .quotaExceeded: self = .quotaExceeded(server.message)
        case .conflict: self = .conflict(server.message)
        case .uniqueViolation, .checkViolation, .foreignKeyViolation:
            guard let constraint = server.constraint else { return nil }
            if constraint.hasSuffix("_user_id_fkey") {
                // The account was deleted during this request.
                self = .unauthenticated
            } else if let known = Self.constraint(constraint) {
                self = known
            } else {
                return nil
            }
        default: return nil
        }
    }

    /// Returns the error for a violated constraint; nil if input cannot violate the constraint.
    static func constraint(_ name: String) -> BookplateError? { constraints[name] }

    private static let noteTooLong = BookplateError.badUserInput(
        field: "note", "Note may have at most 10,000 characters.")

    /// The constraints that input can violate. Most input is validated before it reaches the database, with better
    /// messages. The constraints also hold for concurrent requests.
    private static let constraints: [String: BookplateError] = [
        "shelves_name": .conflict(
            "A shelf with this name already exists. Choose another name.", field: "name"),
        "shelves_pkey": ChosenID.takenError,
        "books_edition_id": .conflict("This book is already in the library.", field: "isbn"),
        "books_isbn13": .conflict(
            "A book with this ISBN is already in the library.", field: "isbn"),
        "shelf_books_user_id_shelf_id_fkey": .notFound(Shelf.noSuchShelf),
        "shelf_books_user_id_book_id_fkey": .notFound(Book.noSuchBook),
        "reviews_user_id_book_id_fkey": .notFound(Book.noSuchBook),
        "shelves_name_check": .badUserInput(
            field: "name",
            "A name must have 1 to 100 characters, and no spaces at the start or end."),
        "books_title_check": .badUserInput(
            field: "title",
            "A title must have 1 to 500 characters, and no spaces at the start or end."),
        "books_authors_check": .badUserInput(
            field: "authors", "A book may have at most \(BookAuthors.storedMax) authors."),
        "books_isbn13_check": .badUserInput(field: "isbn", ISBN.Problem.length.message),
        "books_category_check": .badUserInput(
            field: "category", "Category may have at most 100 characters."),
        "books_genre_check": .badUserInput(
            field: "genre", "Genre may have at most 100 characters."),
        "books_series_check": .badUserInput(
            field: "series",
            "The name of a series must have 1 to 200 characters, and no spaces at the start or end."
        ),
        "books_series_position_check": .badUserInput(
            field: "series", "A position in a series must have 1 to 20 characters."),
        "books_binding_check": .badUserInput(
            field: "binding", "A binding must have 1 to 100 characters."),
        "books_private_notes_check": .badUserInput(
            field: "privateNotes", "Private notes must have 1 to 100,000 characters."),
        "books_current_page_check": .badUserInput(
            field: "currentPage", "Send a whole number of at least 0."),
        "reviews_half_stars_check": .badUserInput(
            field: "stars", "Stars must be a multiple of 0.5 from 0.5 to 5."),
        "reviews_content_check": .badUserInput(
            field: "rating", "A review needs a rating or a text."),
        "reviews_text_check": .badUserInput(
            field: "text", "Text may have at most 100,000 characters."),
        "reads_open": .conflict(
            "This book already has an open read. Finish it first.", field: "outcome"),
        "reads_user_id_book_id_fkey": .notFound(Book.noSuchBook),
        "reads_dates_check": ReadInput.datesReversed,
        "reads_open_check": ReadInput.openWithEnd,
        "reads_note_check": noteTooLong,
        "reads_length_seconds_check": .badUserInput(
            field: "lengthSeconds", "Send a whole number of seconds of at least 1."),
        "partial_date_check": .badUserInput(
            field: "finishedOn",
            "Write a year, month, or day, such as 2019, 2019-05, or 2019-05-01."),
        "progress_entries_user_id_read_id_fkey": .notFound(Read.noSuchRead),
        "progress_entries_position_check": ProgressInput.wrongPosition,
        "progress_entries_page_check": .badUserInput(
            field: "page", "Send a whole number of at least 0."),
        "progress_entries_percent_check": .badUserInput(
            field: "percent", "A percentage must be from 0 to 100."),
        "progress_entries_seconds_check": .badUserInput(
            field: "seconds", "Send a whole number of at least 0."),
        "progress_entries_note_check": noteTooLong,
        "notes_user_id_book_id_fkey": .notFound(Book.noSuchBook),
        "notes_content_check": NoteInput.noContent,
        "notes_position_check": NoteInput.wrongPosition,
        "notes_text_check": .badUserInput(
            field: "text", "Text may have at most 10,000 characters."),
        "notes_comment_check": .badUserInput(
            field: "comment", "Comment may have at most 10,000 characters."),
        "notes_chapter_check": .badUserInput(
            field: "chapter", "Chapter may have at most 500 characters."),
        "covers_user_id_book_id_fkey": .notFound(Book.noSuchBook),
    ]
}
