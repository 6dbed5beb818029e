import Requests

/// The constraints of notes that input can violate, with their errors.
extension Note {
    static let constraints: [String: BookplateError] = [
        "notes_user_id_book_id_fkey": .notFound(Book.noSuchBook),
        "notes_content_check": NoteInput.noContent,
        "notes_position_check": NoteInput.wrongPosition,
        "notes_text_check": .badUserInput(
            field: "text", "Text may have at most 10,000 characters."),
        "notes_comment_check": .badUserInput(
            field: "comment", "Comment may have at most 10,000 characters."),
        "notes_chapter_check": .badUserInput(
            field: "chapter", "Chapter may have at most 500 characters."),
    ]
}
