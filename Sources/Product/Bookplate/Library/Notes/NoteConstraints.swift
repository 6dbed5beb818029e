import Requests

/// The constraints of notes that input can violate, with their errors.
extension Note {
    static let constraints: [String: BookplateError] = [
        "notes_user_id_book_id_fkey": .notFound(.noSuchBook),
        "notes_content_check": NoteInput.noContent,
        "notes_position_check": NoteInput.wrongPosition,
        "notes_text_check": .badUserInput(
            field: "text", .init(.tooLong, max: 10_000)),
        "notes_comment_check": .badUserInput(
            field: "comment", .init(.tooLong, max: 10_000)),
        "notes_chapter_check": .badUserInput(
            field: "chapter", .init(.tooLong, max: 500)),
    ]
}
