import Requests

/// The constraints of shelves that input can violate, with their errors.
extension Shelf {
    static let constraints: [String: BookplateError] = [
        "shelves_name": .conflict(
            "A shelf with this name already exists. Choose another name.", field: "name"),
        "shelves_pkey": ChosenID.takenError,
        "shelf_books_user_id_shelf_id_fkey": .notFound(noSuchShelf),
        "shelf_books_user_id_book_id_fkey": .notFound(Book.noSuchBook),
        "shelves_name_check": .badUserInput(
            field: "name",
            "A name must have 1 to 100 characters, and no spaces at the start or end."),
    ]
}
