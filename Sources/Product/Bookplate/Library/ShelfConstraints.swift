import Requests

/// The constraints of shelves that input can violate, with their errors.
extension Shelf {
    static let constraints: [String: BookplateError] = [
        // The statement takes the lock of the user first.
        "shelves_up_next": .internalError,
        "shelves_name": .conflict(
            .init(.nameTaken), field: "name"),
        "shelves_pkey": ChosenID.takenError,
        "shelf_books_user_id_shelf_id_fkey": .notFound(.noSuchShelf),
        "shelf_books_user_id_book_id_fkey": .notFound(.noSuchBook),
        "shelves_description_check": .badUserInput(
            field: "description", .init(.tooLong, max: 1_000)),
        "shelves_name_check": .badUserInput(
            field: "name",
            .init(.tooLong, max: 100)),
    ]
}
