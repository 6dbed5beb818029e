import Requests

/// The constraints of reviews that input can violate, with their errors.
extension Review {
    static let constraints: [String: BookplateError] = [
        "reviews_user_id_book_id_fkey": .notFound(Book.noSuchBook),
        "reviews_half_stars_check": .badUserInput(
            field: "stars", "Stars must be a multiple of 0.5 from 0.5 to 5."),
        "reviews_content_check": .badUserInput(
            field: "rating", "A review needs a rating or a text."),
        "reviews_text_check": .badUserInput(
            field: "text", "Text may have at most 100,000 characters."),
    ]
}
