import GraphQL
import GraphQLNIO

struct User { let id = "1", displayName = "Reader" }

struct Shelf { let number: Int }

struct Book {
    let number: Int

    var addedAt: String { "2026-01-\(number % 18 + 10)T12:00:00Z" }
}

struct Review {
    let rating: Int
    let text: String?
}

enum Status: String, LeafValue { case WANT_TO_READ, READING, READ }

/// The library of a reader, with closures as resolvers. `books` and `review` are batches: a database would be asked once for the
/// books of all shelves, and once for the reviews of all books.
@main
struct Library {
    static func main() async throws {
        let port = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 8080
        try await GraphQLServer(schema(), port: port).run()
    }

    static let sdl = """
        type Query { me: User! }
        type User { id: ID! displayName: String! shelves: [Shelf!]! }
        type Shelf { id: ID! name: String! books(first: Int! = 20): [Book!]! }
        type Book {
          id: ID! title: String! author: String! status: Status! addedAt: String! coverUrl: String! review: Review
        }
        type Review { rating: Int! text: String }
        enum Status { WANT_TO_READ READING READ }
        """

    static func schema() throws -> ExecutableSchema<NoContext> {
        try ExecutableSchema(sdl) { resolvers in
            resolvers.query.field("me") { _ in User() }

            let user = resolvers.type("User", User.self)
            user.field("id", \.id)
            user.field("displayName", \.displayName)
            user.field("shelves") { _ in (0..<5).map { Shelf(number: $0) } }

            let shelf = resolvers.type("Shelf", Shelf.self)
            shelf.field("id") { "\($0.number)" }
            shelf.field("name") { "Shelf \($0.number)" }
            shelf.batch("books") { shelves, request in
                let first = min(max(0, request.arguments["first"]?.int ?? 0), 100)
                return shelves.map { shelf in
                    (0..<first).map { Book(number: 100 * shelf.number + $0) }
                }
            }

            let book = resolvers.type("Book", Book.self)
            book.field("id") { "\($0.number)" }
            book.field("title") { "The Title of Book \($0.number)" }
            book.field("author") { "Author \($0.number % 10)" }
            book.field("status") { _ in Status.READ }
            book.field("addedAt", \.addedAt)
            book.field("coverUrl") { "https://covers.example.com/1/\($0.number).jpg" }
            book.batch("review") { books, _ in
                books.map {
                    $0.number % 3 == 0 ? Review(rating: $0.number % 5 + 1, text: nil) : nil
                }
            }

            let review = resolvers.type("Review", Review.self)
            review.field("rating", \.rating)
            review.field("text", \.text)
        }
    }
}
