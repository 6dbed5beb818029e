import Requests

/// The constraints of books that input can violate, with their errors.
extension Book {
    static let constraints: [String: BookplateError] = [
        "books_edition_id": .conflict("This book is already in the library.", field: "isbn"),
        "books_isbn13": .conflict(
            "A book with this ISBN is already in the library.", field: "isbn"),
        "books_title_check": .badUserInput(
            field: "title",
            "A title must have 1 to 500 characters, and no spaces at the start or end."),
        "books_subtitle_check": .badUserInput(
            field: "subtitle",
            "A subtitle must have 1 to \(BookFacts.subtitleCharactersMax) characters, and no spaces at the start or end."
        ),
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
    ]
}
