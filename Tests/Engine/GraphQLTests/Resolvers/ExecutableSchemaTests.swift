import GraphQL
import Testing

/// Errors of resolvers that do not match their schema, which are found when a server starts.
@Suite struct ExecutableSchemaTests {
    private struct Book { var title = "" }
    private struct Author {}

    private static let books = "type Query { books: [Book!]! } type Book { title: String! }"

    private static func messages(
        _ sdl: String, _ configure: (ResolverBuilder<NoContext>) -> Void
    ) -> [String] {
        do throws(RequestErrors) {
            _ = try ExecutableSchema(sdl, configure)
            return []
        } catch {
            return error.errors.map(\.message)
        }
    }

    @Test func acceptsMatchingResolvers() {
        let messages = Self.messages(Self.books) {
            $0.query.field("books") { _ in [Book()] }
            $0.type("Book", Book.self).field("title", \.title)
        }
        #expect(messages == [])
    }

    @Test func listsEveryProblem() {
        let messages = Self.messages(Self.books + " type Mutation { add: Book }") {
            $0.query.field("book") { _ in Book() }
            $0.type("Book", Book.self).field("titel", \.title)
            $0.set(.property, for: "add", of: "Mutation")
            $0.set(.property, for: "add", of: "Mutation")
        }
        #expect(
            messages == [
                "The field Mutation.add has two resolvers.",
                "The field Query.books has no resolver.", "The field Book.title has no resolver.",
                "The field Mutation.add returns objects, so its resolver must be a loader.",
                "The schema has no field Book.titel of an object type.",
                "The schema has no field Query.book of an object type.",
            ])
    }

    @Test func comparesResultsWithTypesOfFields() {
        let messages = Self.messages(
            """
            type Query {
              a: Int!  b: [Int!]!  c: [Int]  d: Int  e: String  f: Book!  g: Book  h: [Book!]  i: Item  j: Item  k: Color
              l: Date
            }
            type Book { title: String! }
            type Author { name: String! }
            union Item = Book
            enum Color { RED }
            scalar Date
            """
        ) {
            let query = $0.query
            query.field("a") { _ in Int?.none }
            query.field("b") { _ in [Int?]() }
            query.field("c") { _ in 1 }
            query.field("d") { _ in [1] }
            query.field("e") { _ in 1 }
            query.field("f") { _ in Book?.none }
            query.field("g") { _ in Author() }
            query.field("h") { _ in ["Emma"] }
            query.field("i") { _ in Author() }
            query.field("j") { _ in Book() }
            query.field("k") { _ in true }
            query.field("l") { _ in Book() }
            $0.type("Book", Book.self).field("title", \.title)
            $0.type("Author", Author.self).field("name") { _ in "" }
        }
        #expect(
            messages == [
                #"The resolver of Query.a returns Optional<Int>, but "Int!" is not nullable."#,
                #"The resolver of Query.b returns Array<Optional<Int>>, but "Int!" is not nullable."#,
                #"The resolver of Query.c returns Int, but "[Int]" is a list."#,
                #"The resolver of Query.d returns Array<Int>, but "Int" is not a list."#,
                #"The resolver of Query.e returns Int, but Int cannot be written as "String"."#,
                #"The resolver of Query.f returns Optional<Book>, but "Book!" is not nullable."#,
                #"The resolver of Query.g returns Author, but Author is not the Swift type of "Book"."#,
                #"The resolver of Query.h returns Array<String>, but "Book" has fields, and String is a leaf."#,
                #"The resolver of Query.i returns Author, but Author is not the Swift type of "Item"."#,
                #"The resolver of Query.k returns Bool, but Bool cannot be written as "Color"."#,
                #"The resolver of Query.l returns Book, but Book is not a LeafValue."#,
            ])
    }

    @Test func reportsTwoSwiftTypesOfOneType() {
        let messages = Self.messages(Self.books) {
            $0.query.field("books") { _ in [Book()] }
            $0.type("Book", Book.self).field("title", \.title)
            _ = $0.type("Book", Author.self)
        }
        #expect(messages == ["The type Book has two Swift types."])
    }

    @Test func reportsRootTypeAsObjectType() {
        let messages = Self.messages("type Query { a: Int! }") {
            $0.type("Query", Book.self).field("a") { _ in 1 }
        }
        #expect(
            messages == [
                "Query is a root type, whose fields have no objects.",
                "The field Query.a belongs to a root type, so its resolver must be a loader.",
            ])
    }

    /// Nothing writes the fields of a root type that are not loaded.
    @Test func reportsPropertiesOfRootTypes() {
        let messages = Self.messages(
            "type Query { a: Int b: Int } type Mutation { a: Int } type Subscription { a: Int }"
        ) {
            $0.query.field("b") { _ in 1 }
            for type in ["Query", "Mutation", "Subscription"] {
                $0.set(.property, for: "a", of: type)
            }
        }
        #expect(
            messages == [
                "The field Query.a belongs to a root type, so its resolver must be a loader.",
                "The field Mutation.a belongs to a root type, so its resolver must be a loader.",
                "The field Subscription.a belongs to a root type, so its resolver must be a loader.",
            ])
    }

    private struct PlainLoader: FieldLoader, PreparedLoad {
        func prepare(_ field: SelectedField) -> any PreparedLoad { self }

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues,
            in context: any ExecutionContext
        ) -> Load { .ready(.null(parents.count)) }
    }

    @Test func reportsSubscriptionFieldWithoutEventStream() {
        let messages = Self.messages("type Query { a: Int } type Subscription { b: Int c: Int }") {
            $0.set(.load(PlainLoader()), for: "a", of: "Query")
            $0.set(.load(PlainLoader()), for: "b", of: "Subscription")
            $0.subscription.stream("c") { _ in AsyncStream { $0.yield(1) } }
        }
        #expect(
            messages == [
                "The field Subscription.b belongs to the subscription root type, so its loader must be a SubscriptionLoader."
            ])
    }

    private protocol Medium: Sendable {}
    private class Publication: @unchecked Sendable {}
    private final class Magazine: Publication, Medium, @unchecked Sendable {}
    private struct Stranger<Value: Sendable>: Medium { var value: Value }
    private enum Choice { case book(Book) }

    /// Values of a protocol or a superclass may have the Swift type of a possible type. A struct, an enum, or a
    /// tuple cannot have it.
    @Test func reportsSwiftTypeThatIsNotAPossibleType() {
        let messages = Self.messages(
            """
            type Query { a: Item  b: [Item]  c: Item  d: Item  e: Item  f: Item  g: Item }
            union Item = Book
            type Book { title: String! }
            """
        ) {
            let query = $0.query
            query.field("a") { _ in Stranger(value: 1) }
            query.field("b") { _ in [Choice]() }
            query.field("c") { _ in () }
            query.field("d") { _ in Magazine() as any Medium }
            query.field("e") { _ in Magazine() as Publication }
            query.field("f") { _ in Magazine() as any Sendable }
            query.field("g") { _ in Magazine() }
            $0.type("Book", Magazine.self).field("title") { _ in "Emma" }
        }
        #expect(
            messages == [
                #"The resolver of Query.a returns Stranger<Int>, but Stranger<Int> is not the Swift type of "Item"."#,
                #"The resolver of Query.b returns Array<Choice>, but Choice is not the Swift type of "Item"."#,
                #"The resolver of Query.c returns (), but () is not the Swift type of "Item"."#,
            ])
    }

    @Test func reportsSwiftTypeOfSeveralPossibleTypes() {
        let messages = Self.messages(
            "type Query { item: Item } union Item = A | B type A { a: Int! } type B { b: Int! }"
        ) {
            $0.query.field("item") { _ in Book() }
            $0.type("A", Book.self).field("a") { _ in 1 }
            $0.type("B", Book.self).field("b") { _ in 1 }
        }
        #expect(messages == ["The types A and B of Item have the same Swift type."])
    }

    @Test func reportsErrorsOfSchemaFirst() {
        #expect(
            Self.messages("type Query { book: Book }") { _ in } == ["Unknown type \"Book\"."])
    }

    @Test(
        arguments: [
            (
                "type Query {\n  book: Book\n  author: Author\n}",
                "2:9: Unknown type \"Book\".\n3:11: Unknown type \"Author\"."
            ),
            (
                "type Query { a: Int }\ntype Query { b: Int }",
                "1:6, 2:6: There can be only one type named \"Query\"."
            ),
            ("type Query { a: Int }", "The field Query.a has no resolver."),
        ])
    func descriptionOfErrorsHasPositionsInSchema(sdl: String, expected: String) {
        do throws(RequestErrors) {
            _ = try ExecutableSchema(sdl) { _ in }
            Issue.record("the schema has no errors")
        } catch {
            #expect("\(error)" == expected)
            #expect(String(reflecting: error) == expected)
        }
    }
}
