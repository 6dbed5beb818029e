import Requests

/// The constraints of covers that input can violate, with their errors.
extension Cover {
    static let constraints: [String: BookplateError] = [
        "covers_user_id_book_id_fkey": .notFound(.noSuchBook)
    ]
}
