import Requests

/// The constraints of copies that input can violate, with their errors.
extension BookCopy {
    static let constraints: [String: BookplateError] = [
        "book_copies_user_id_book_id_fkey": .notFound(.noSuchBook),
        "book_copies_format_check": .badUserInput(
            field: "format", .init(.tooLong, max: formatCharactersMax)),
        "book_copies_place_check": .badUserInput(
            field: "place", .init(.tooLong, max: placeCharactersMax)),
        "book_copies_note_check": .badUserInput(
            field: "note", .init(.tooLong, max: noteCharactersMax)),
        "book_copies_borrower_check": .badUserInput(
            field: "borrower", .init(.tooLong, max: borrowerCharactersMax)),
        "book_copies_dates_check": .badUserInput(field: "dueOn", .init(.datesReversed)),
    ]
}
