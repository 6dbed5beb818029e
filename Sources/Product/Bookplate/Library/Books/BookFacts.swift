import Basics
import BookSources
import GraphQL
import Requests

/// The facts of an edition that a reader can enter: the fields that `CreateBookInput` and `UpdateBookInput` have in common with a
/// card. A field that is absent, null, or blank is nil.
struct BookFacts {
    let subtitle: String?
    let publisher: String?
    let publishedDate: String?
    let language: String?
    let description: String?
    let pageCount: Int32?

    static let subtitleCharactersMax = 500
    static let publisherCharactersMax = 500
    static let descriptionCharactersMax = 100_000

    /// - Throws: `.badUserInput` with the name of the field.
    init(_ input: InputObject) throws(BookplateError) {
        subtitle = try TextInput.optional(
            input.text("subtitle"), field: "subtitle",
            charactersMax: Self.subtitleCharactersMax)
        publisher = try TextInput.optional(
            input.text("publisher"), field: "publisher",
            charactersMax: Self.publisherCharactersMax)
        publishedDate = try Self.date(input.text("publishedDate"))
        language = try Self.language(input.text("language"))
        description = try TextInput.optional(
            input.text("description"), field: "description",
            charactersMax: Self.descriptionCharactersMax)
        if let count = input["pageCount"], !count.isNull {
            guard let number = count.int.flatMap({ Int32(exactly: $0) }), number > 0 else {
                throw .badUserInput(
                    field: "pageCount", .init(.tooSmall, min: 1))
            }
            pageCount = number
        } else {
            pageCount = nil
        }
    }

    private static func date(_ text: String?) throws(BookplateError) -> String? {
        guard
            let text = try TextInput.optional(text, field: "publishedDate", charactersMax: 100)
        else { return nil }
        guard PartialDate(text, years: 1...9999) != nil else {
            throw .badUserInput(
                field: "publishedDate",
                .init(.invalidDate))
        }
        return text
    }

    private static func language(_ text: String?) throws(BookplateError) -> String? {
        guard let text = try TextInput.optional(text, field: "language", charactersMax: 100)
        else { return nil }
        guard let tag = Languages.wellFormed(text) else {
            throw .badUserInput(
                field: "language", .init(.invalidLanguage, value: String(text.prefix(40))))
        }
        return tag
    }
}
