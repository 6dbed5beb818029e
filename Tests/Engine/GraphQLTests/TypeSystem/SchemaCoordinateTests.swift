import Testing

@testable import GraphQL

struct SchemaCoordinateTests {
    @Test(arguments: [
        ("Book", "type"), ("Style", "type"), ("__Type", "type"), ("Book.title", "field"),
        ("Named.nick", "field"), ("Style.LONG", "enumValue"), ("Filter.text", "inputField"),
        ("Query.book(id:)", "argument"), ("@onField", "directive"), ("@skip(if:)", "argument"),
    ])
    func resolvesCoordinates(text: String, kind: String) throws {
        let coordinate = try #require(SchemaCoordinate(text))
        #expect(coordinate.description == text)
        let element = try #require(harnessSchema.element(at: coordinate))
        #expect(String(describing: element).hasPrefix(kind))
    }

    @Test(arguments: [
        "Nope", "Book.nope", "Book.title(nope:)", "Item.title", "Even.a", "@nope", "@skip(unless:)",
        "Filter.text(a:)",
    ])
    func returnsNilForUnknownElements(text: String) throws {
        #expect(harnessSchema.element(at: try #require(SchemaCoordinate(text))) == nil)
    }

    @Test(arguments: [
        "", "@", " Book", "Book ", "Book.", ".title", "Book.title.name", "Book.title(",
        "Book.title()",
        "Book.title(a)", "Book.title(a:) ", "Book.title( a:)", "Book(a:)", "@skip.if", "@skip(if)",
        "1a", "Book.1", "é", "@@skip", "Book.title(a:b:)",
    ])
    func rejectsInvalidTexts(text: String) {
        #expect(SchemaCoordinate(text) == nil)
    }
}
