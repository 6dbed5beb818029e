import Requests

/// The constraints of reviews that input can violate, with their errors.
extension Review {
    static let constraints: [String: BookplateError] = [
        "reviews_user_id_book_id_fkey": .notFound(.noSuchBook),
        "reviews_quarter_stars_check": .badUserInput(
            field: "stars", .init(.invalidStars, min: 0.25, max: 5)),
        "reviews_content_check": .badUserInput(
            field: "rating", .init(.emptyReview)),
        "reviews_text_check": .badUserInput(
            field: "text", .init(.tooLong, max: 100_000)),
    ]
}
