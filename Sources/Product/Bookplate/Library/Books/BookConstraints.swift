import Requests

/// The constraints of books that input can violate, with their errors.
extension Book {
    static let constraints: [String: BookplateError] = [
        "books_edition_id": .conflict(.init(.alreadyInLibrary), field: "isbn"),
        "books_isbn13": .conflict(
            .init(.alreadyInLibrary), field: "isbn"),
        "books_title_check": .badUserInput(
            field: "title",
            .init(.tooLong, max: 500)),
        "books_subtitle_check": .badUserInput(
            field: "subtitle",
            .init(.tooLong, max: BookFacts.subtitleCharactersMax)
        ),
        "books_authors_check": .badUserInput(
            field: "authors", .init(.tooMany, max: BookAuthors.storedMax)),
        "books_isbn13_check": .badUserInput(field: "isbn", .init(.isbnLength)),
        "books_category_check": .badUserInput(
            field: "category", .init(.tooLong, max: 100)),
        "books_genre_check": .badUserInput(
            field: "genre", .init(.tooLong, max: 100)),
        "books_series_check": .badUserInput(
            field: "series",
            .init(.tooLong, max: 200)
        ),
        "books_series_position_check": .badUserInput(
            field: "series", .init(.tooLong, max: 20)),
        "books_binding_check": .badUserInput(
            field: "binding", .init(.tooLong, max: 100)),
        "books_content_notes_check": .badUserInput(
            field: "contentNotes", .init(.tooLong, max: 2_000)),
        "books_private_notes_check": .badUserInput(
            field: "privateNotes", .init(.tooLong, max: 100_000)),
        "books_current_page_check": .badUserInput(
            field: "currentPage", .init(.tooSmall, min: 0)),
    ]
}
