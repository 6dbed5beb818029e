import GraphQL
import Postgres
import Requests

/// A note to create: the input type `CreateNoteInput`.
struct NoteInput {
    let id: UUID
    /// The note as an element of the parameter of `create_notes`.
    let json: Value

    static let noContent = BookplateError.badUserInput(
        field: "text", .init(.emptyNote))
    static let wrongPosition = BookplateError.badUserInput(
        field: "percent", .init(.conflictingFields, value: "`page`, `percent`, `seconds`"))

    /// - Throws: `.badUserInput` with the name of the field, or `.notFound` if the id of the book is not a UUID.
    init(_ input: InputObject) throws(BookplateError) {
        id = try input.newID()
        let book = try input.id("bookId", else: .noSuchBook)
        var members: [Value.Member] = [
            .init("id", .string(id.description)), .init("bookId", .string(book.description)),
        ]
        members += try Self.texts(input)
        guard
            members.contains(where: {
                ["text", "comment"].contains($0.name) && !$0.value.isNull
            })
        else { throw Self.noContent }
        if case .object(let position) = try Self.position(input) { members += position }
        if let createdAt = try ProgressInput.time(input, "createdAt") {
            members.append(.init("createdAt", .string(createdAt)))
        }
        json = .object(members)
    }

    /// Returns the changes of an `UpdateNoteInput` as the parameter of `change_note`.
    static func changes(_ input: InputObject) throws(BookplateError) -> Value {
        var members = try texts(input)
        if let position = try position(input) { members.append(.init("position", position)) }
        return .object(members)
    }

    /// Returns the members that are present, except those of the position. Empty texts are null.
    private static func texts(_ input: InputObject) throws(BookplateError) -> [Value.Member] {
        var members: [Value.Member] = []
        for (name, charactersMax) in [
            ("text", Note.textCharactersMax), ("comment", Note.commentCharactersMax),
            ("chapter", Note.chapterCharactersMax),
        ] where input.isGiven(name) {
            let text = try TextInput.optional(
                input.text(name), field: name, charactersMax: charactersMax)
            members.append(.init(name, .text(text)))
        }
        if input.isGiven("color") {
            members.append(.init("color", .text(input.text("color"))))
        }
        return members
    }

    /// Returns the position as an object with one member, or with none if all fields that are present are null; nil if none
    /// is present.
    private static func position(_ input: InputObject) throws(BookplateError) -> Value? {
        guard ProgressInput.positions.contains(where: { input.isGiven($0) }) else { return nil }
        let isCleared = ProgressInput.positions.allSatisfy { input[$0]?.isNull ?? true }
        let position =
            isCleared ? nil : try ProgressInput.position(input, orElse: wrongPosition)
        return .object(position.map { [$0] } ?? [])
    }
}
