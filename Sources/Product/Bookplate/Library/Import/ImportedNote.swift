import GraphQL
import Postgres
import Requests

/// A note of a Bookplate library.
struct ImportedNote: Equatable {
    var id: UUID
    /// The id of the book in the file. The library may have the book with another one.
    var bookID: UUID
    var text: String?
    var comment: String?
    var chapter: String?
    var color: String?
    var position: ImportedProgress.Position?
    var createdAt: Instant?
    var updatedAt: Instant?

    static let colors = ["YELLOW", "ORANGE", "RED", "PINK", "PURPLE", "BLUE", "GREEN", "GRAY"]

    /// The note as an element of the parameter of the SQL function `import_notes`.
    var json: Value {
        var members: [Value.Member] = [
            .init("id", .string(id.description)), .init("bookId", .string(bookID.description)),
            .init("text", .text(text)), .init("comment", .text(comment)),
            .init("chapter", .text(chapter)), .init("color", .text(color)),
        ]
        if let position { members.append(position.member) }
        if let createdAt { members.append(.init("createdAt", .string(createdAt.preciseText))) }
        if let updatedAt { members.append(.init("updatedAt", .string(updatedAt.preciseText))) }
        return .object(members)
    }
}

extension BookplateMembers {
    /// The note whose JSON object has these members.
    ///
    /// - Throws: If a required member is missing.
    var note: ImportedNote {
        get throws(ImportProblem) {
            let text = text("text", max: Note.textCharactersMax)
            let comment = self.text("comment", max: Note.commentCharactersMax)
            guard let id = id("id"), let book = self.id("bookId"), text != nil || comment != nil
            else {
                throw ImportProblem(
                    "id, bookId, or both text and comment are missing. The note was left out.")
            }
            return ImportedNote(
                id: id, bookID: book, text: text, comment: comment,
                chapter: self.text("chapter", max: Note.chapterCharactersMax),
                color: optionalChoice("color", ImportedNote.colors), position: position,
                createdAt: instant("createdAt"), updatedAt: instant("updatedAt"))
        }
    }
}
