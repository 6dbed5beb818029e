import GraphQL
import GraphQLServing
import Synchronization
import Testing

/// Operations on a schema whose resolvers are closures.
@Suite struct ClosureResolverTests {
    @Test(
        arguments: [
            ("{ hello }", #"{"data":{"hello":"Hello, world"}}"#),
            (#"{ hello(name: "Ada") }"#, #"{"data":{"hello":"Hello, Ada"}}"#),
            (
                "{ books { id title pages price isLong } }",
                #"{"data":{"books":[{"id":"1","title":"Emma","pages":474,"price":9.5,"isLong":true},"#
                    + #"{"id":"2","title":"Sanditon","pages":null,"price":4,"isLong":false}]}}"#
            ),
            ("{ books { tags } }", #"{"data":{"books":[{"tags":["a","b"]},{"tags":[]}]}}"#),
            ("{ grid }", #"{"data":{"grid":[[1,null],[]]}}"#),
            ("{ genre }", #"{"data":{"genre":"SATIRE"}}"#),
            (
                #"{ books { shout(suffix: "!") } }"#,
                #"{"data":{"books":[{"shout":"EMMA!"},{"shout":"SANDITON!"}]}}"#
            ),
            (
                "{ books { author { name } } }",
                #"{"data":{"books":[{"author":{"name":"Jane Austen"}},{"author":null}]}}"#
            ),
            (
                "{ media { __typename title ... on Film { minutes } } }",
                #"{"data":{"media":[{"__typename":"Book","title":"Emma"},"#
                    + #"{"__typename":"Film","title":"Clueless","minutes":97}]}}"#
            ),
            ("mutation { increment again: increment }", #"{"data":{"increment":1,"again":2}}"#),
        ])
    func resolvesWithClosures(text: String, expected: String) async throws {
        #expect(try await Library().execute(text) == expected)
    }

    @Test(
        arguments: [
            (
                "{ missing { id } }",
                #"{"errors":[{"message":"There is none.","locations":[{"line":1,"column":3}],"path":["missing"]}],"#
                    + #""data":{"missing":null}}"#, []
            ),
            (
                "{ defective }",
                #"{"errors":[{"message":"An internal error occurred.","locations":[{"line":1,"column":3}],"#
                    + #""path":["defective"],"extensions":{"code":"INTERNAL_SERVER_ERROR"}}],"#
                    + #""data":{"defective":null}}"#,
                ["The loader of Query.defective threw Defect()."]
            ),
            (
                "{ books { short } }",
                #"{"errors":[{"message":"An internal error occurred.","locations":[{"line":1,"column":11}],"#
                    + #""path":["books",0,"short"],"extensions":{"code":"INTERNAL_SERVER_ERROR"}},"#
                    + #"{"message":"An internal error occurred.","locations":[{"line":1,"column":11}],"#
                    + #""path":["books",1,"short"],"extensions":{"code":"INTERNAL_SERVER_ERROR"}}],"#
                    + #""data":{"books":[{"short":null},{"short":null}]}}"#,
                ["The loader of Book.short returned 1 values for 2 objects."]
            ),
            (
                "{ large }",
                #"{"errors":[{"message":"Int cannot represent non 32-bit signed integer value: 2147483648","#
                    + #""locations":[{"line":1,"column":3}],"path":["large"]}],"data":{"large":null}}"#,
                []
            ),
            (
                "{ badGenre }",
                #"{"errors":[{"message":"Enum \"Genre\" cannot represent value: \"WESTERN\"","#
                    + #""locations":[{"line":1,"column":3}],"path":["badGenre"]}],"data":{"badGenre":null}}"#,
                []
            ),
            (
                "{ stranger { title } }",
                #"{"errors":[{"message":"An internal error occurred.","locations":[{"line":1,"column":3}],"#
                    + #""path":["stranger"],"extensions":{"code":"INTERNAL_SERVER_ERROR"}}],"#
                    + #""data":{"stranger":null}}"#,
                [
                    "The loader of Query.stranger returned a value of the Swift type Stranger, which has no resolvers."
                ]
            ),
        ] as [(String, String, [String])])
    func reportsErrorsOfClosures(text: String, expected: String, defects: [String]) async throws {
        let library = try Library()
        #expect(try await library.execute(text) == expected)
        #expect(library.context.defects == defects)
    }

    @Test func callsBatchOncePerLevel() async throws {
        let library = try Library()
        _ = try await library.execute("{ books { author { name } } }")
        #expect(library.context.batches == [2])
    }

    @Test func streamsEventsOfSequence() async throws {
        let library = try Library()
        let responses = try await library.subscribe("subscription { added(titles: 2) { title } }")
        #expect(
            responses == [
                #"{"data":{"added":{"title":"Book 1"}}}"#,
                #"{"data":{"added":{"title":"Book 2"}}}"#,
            ])
    }

    @Test func endsSubscriptionIfStreamFails() async throws {
        let error = await #expect(throws: RequestErrors.self) {
            _ = try await Library().subscribe("subscription { broken }")
        }
        #expect(error?.errors.map(\.message) == ["The stream failed."])
    }

    @Test func refusesOtherContext() async throws {
        let library = try Library()
        let cache = DocumentCache(
            schema: library.schema.schema, resolvers: library.schema, limits: RequestLimits(),
            errorCodes: .apollo)
        let (plan, variables, _) = try await cache.document(Array("{ hello }".utf8))
            .plan(operationName: nil, variables: .null)
        let defects = Mutex<[String]>([])
        let result = await GraphQL.execute(
            plan, variables: variables,
            context: NoContext { defect in defects.withLock { $0.append("\(defect)") } })
        #expect(result.errors.map(\.message) == ["An internal error occurred."])
        #expect(
            defects.withLock { $0 } == [
                "The loader of Query.hello needs a context of the type TestContext."
            ])
    }
}

private struct Book: Titled {
    var id = 0
    var title = ""
    var pages: Int?
    var tags: [String] = []
    var authorID: Int?
}

private struct Film: Titled {
    var title = "Clueless"
    var minutes = 97
}

private struct Stranger: Titled { var title = "?" }
private struct Author { var name: String }
private protocol Titled: Sendable { var title: String { get } }
private enum Genre: String, LeafValue { case satire = "SATIRE" }
private struct Defect: Error {}

final class TestContext: ExecutionContext, Sendable {
    struct State {
        var defects: [String] = []
        /// The number of objects of each batch.
        var batches: [Int] = []
        var counter = 0
    }

    let state = Mutex(State())

    var defects: [String] { state.withLock(\.defects) }
    var batches: [Int] { state.withLock(\.batches) }

    func error(for defect: LoaderDefect) -> FieldError {
        state.withLock { $0.defects.append("\(defect)") }
        return .internalError
    }
}

private struct Library {
    let schema: ExecutableSchema<TestContext>
    let context = TestContext()

    static let sdl = """
        type Query {
          hello(name: String! = "world"): String!
          books: [Book!]!
          grid: [[Int]!]!
          genre: Genre!
          badGenre: Genre
          media: [Media!]!
          stranger: Media
          missing: Book
          defective: Int
          large: Int
        }
        type Mutation { increment: Int! }
        type Subscription { added(titles: Int!): Book!  broken: Int }
        enum Genre { SATIRE }
        interface Media { title: String! }
        type Book implements Media {
          id: ID!  title: String!  pages: Int  price: Float  isLong: Boolean!  tags: [String!]!
          shout(suffix: String): String!  author: Author  short: Int
        }
        type Film implements Media { title: String!  minutes: Int! }
        type Author { name: String! }
        """

    private static let books = [
        Book(id: 1, title: "Emma", pages: 474, tags: ["a", "b"], authorID: 7),
        Book(id: 2, title: "Sanditon"),
    ]

    init() throws {
        schema = try ExecutableSchema(Self.sdl, context: TestContext.self) { resolvers in
            let query = resolvers.query
            query.field("hello") { request in
                "Hello, \(request.arguments["name"]?.string ?? "")"
            }
            query.field("books") { _ in Self.books }
            query.field("grid") { _ in [[1, nil], []] as [[Int?]] }
            query.field("genre") { _ in Genre.satire }
            query.field("badGenre") { _ in "WESTERN" }
            query.field("media") { _ in [Self.books[0], Film()] as [any Titled] }
            query.field("stranger") { _ in Stranger() as any Titled }
            query.field("missing") { _ -> Book? in throw FieldError("There is none.") }
            query.field("defective") { _ -> Int in throw Defect() }
            query.field("large") { _ in 1 << 31 }
            resolvers.mutation.field("increment") { request in
                request.context.state.withLock { state in
                    state.counter += 1
                    return state.counter
                }
            }
            resolvers.subscription.stream("added") { request in
                let count = request.arguments["titles"]?.int ?? 0
                return AsyncStream { events in
                    for number in 1...count { events.yield(Book(title: "Book \(number)")) }
                    events.finish()
                }
            }
            resolvers.subscription.stream("broken") { _ in
                AsyncThrowingStream<Int, any Error> {
                    $0.finish(throwing: FieldError("The stream failed."))
                }
            }
            let book = resolvers.type("Book", Book.self)
            book.field("id", \.id)
            book.field("title", \.title)
            book.field("pages", \.pages)
            book.field("price") { $0.id == 1 ? 9.5 : 4 }
            book.field("isLong") { ($0.pages ?? 0) > 400 }
            book.field("tags", \.tags)
            book.field("shout") { book, request in
                book.title.uppercased() + (request.arguments["suffix"]?.string ?? "")
            }
            book.batch("author") { books, request in
                request.context.state.withLock { $0.batches.append(books.count) }
                return books.map { $0.authorID == 7 ? Author(name: "Jane Austen") : nil }
            }
            book.batch("short") { _, _ in [1] }
            let film = resolvers.type("Film", Film.self)
            film.field("title", \.title)
            film.field("minutes", \.minutes)
            resolvers.type("Author", Author.self).field("name", \.name)
        }
    }

    private func plan(_ text: String) async throws -> (OperationPlan, VariableValues) {
        let cache = DocumentCache(
            schema: schema.schema, resolvers: schema, limits: RequestLimits(), errorCodes: .apollo)
        let (plan, variables, _) = try await cache.document(Array(text.utf8))
            .plan(operationName: nil, variables: .null)
        return (plan, variables)
    }

    func execute(_ text: String) async throws -> String {
        let (plan, variables) = try await plan(text)
        let result = await GraphQL.execute(plan, variables: variables, context: context)
        return String(decoding: result.body, as: UTF8.self)
    }

    func subscribe(_ text: String) async throws -> [String] {
        let (plan, variables) = try await plan(text)
        let stream = try await GraphQL.subscribe(plan, variables: variables, context: context) {
            context
        }
        var responses: [String] = []
        while let response = try await stream.next() {
            responses.append(String(decoding: response.body, as: UTF8.self))
        }
        return responses
    }
}
