import BookplateClient
import Foundation

/// A library in the terminal. All commands except `sign-in`, `sync`, `watch`, `find`, `import`, and `export` work without a network.
@main
struct Bookshelf {
    private static let usage = """
        usage: bookshelf COMMAND [ARGUMENT]...

          sign-in NAME        signs in at a development server
          list [WORDS]        lists the books, or those that match
          add TITLE           adds a book to the library
          scan ISBN           adds a book, which the server completes later
          read NUMBER         starts to read a book of the list
          finish NUMBER STARS finishes a book of the list and rates it
          feed                lists the next cards of the feed
          like, skip          swipes the first card of the feed
          undo                undoes the latest swipe
          import FILE         imports a library file of another app
          export FILE         stores the library as a zip archive
          problems            lists the changes that the server has refused, and dismisses them
          sync                sends and fetches changes
          watch               keeps the list current until Ctrl-C
          find WORDS          searches the catalog of the server

        The library is in ~/.bookshelf. BOOKSHELF_SERVER is the address of the server (default: http://localhost:8080).
        """

    static func main() async {
        do {
            try await run(Array(CommandLine.arguments.dropFirst()))
        } catch {
            FileHandle.standardError.write(Data("bookshelf: \(error)\n".utf8))
            exit(1)
        }
    }

    private static let server =
        ProcessInfo.processInfo.environment["BOOKSHELF_SERVER"] ?? "http://localhost:8080"

    private static func run(_ arguments: [String]) async throws {
        guard let command = arguments.first, let address = URL(string: server) else {
            print(usage)
            return
        }
        let folder = FileManager.default.homeDirectoryForCurrentUser
            .appendingPathComponent(".bookshelf")
        let bookplate = try Bookplate(
            server: address, app: "dev.bookplate.reader", folder: folder,
            sessionStore: FileSessionStore(folder: folder))
        let text = arguments.dropFirst().joined(separator: " ")
        if command == "sign-in" {
            let token = try await identityToken(of: text, at: address)
            let library = try await bookplate.signIn(apple: AppleCredential(identityToken: token))
            try await synchronize(library)
            return
        }
        guard let library = try await bookplate.library else { throw BookplateError.signInNeeded }
        try await run(command, text, library)
    }

    private static func run(_ command: String, _ text: String, _ library: Library) async throws {
        switch command {
        case "list":
            show(
                text.isEmpty ? try await first(library.books.all()) : try library.books.search(text)
            )
        case "add": try library.books.add(.init(title: text))
        case "scan":
            if case .inLibrary = try library.books.scan(text) { print("You have this book.") }
        case "feed": show(try await first(library.feed.cards()))
        case "like", "skip":
            guard let card = try await first(library.feed.cards(limit: 1)).first else {
                throw BookplateError.invalidInput("There is no card. Run `bookshelf sync`.")
            }
            try library.feed.swipe(card, command == "like" ? .like : .skip)
        case "undo": print(try library.feed.undo()?.title ?? "There is nothing to undo.")
        case "import": try await importFile(text, library)
        case "export":
            try await library.export(to: URL(fileURLWithPath: text)) { print("\($0) bytes") }
        case "read": try library.books.setStatus(.reading, of: try await book(text, library).id)
        case "finish":
            let parts = text.split(separator: " ")
            let book = try await book(parts.first.map(String.init) ?? "", library)
            try library.books.finish(book.id, stars: parts.count > 1 ? Double(parts[1]) : nil)
        case "problems":
            for problem in try await first(library.problems) {
                print("\(problem.operation): \(problem.message)")
                try library.dismiss(problem)
            }
        case "sync": try await synchronize(library)
        case "watch": try await watch(library)
        case "find": try await find(text, library)
        default: print(usage)
        }
    }

    // MARK: Commands

    private static func show(_ books: [Book]) {
        for (number, book) in books.enumerated() {
            let stars = book.review?.stars.map { " \($0) stars" } ?? ""
            print(
                "\(number + 1). \(book.title), \(book.author ?? "unknown author") (\(book.status.rawValue))\(stars)"
            )
        }
    }

    private static func show(_ cards: [FeedCard]) {
        for (number, card) in cards.enumerated() {
            print("\(number + 1). \(card.title), \(card.author ?? "unknown author")")
            if let hook = card.hook { print("   \(hook)") }
        }
    }

    private static func importFile(_ path: String, _ library: Library) async throws {
        let id = try await library.imports.start(Data(contentsOf: URL(fileURLWithPath: path)))
        for try await progress in library.imports.progress(of: id) {
            print(
                "\(progress.state): \(progress.done) of \(progress.total.map(String.init) ?? "?")")
            if progress.isEnded {
                for failure in progress.failed {
                    print("line \(failure.line): \(failure.message)")
                }
            }
        }
        try await synchronize(library)
    }

    private static func book(_ number: String, _ library: Library) async throws -> Book {
        let books = try await first(library.books.all())
        guard let index = Int(number), books.indices.contains(index - 1) else {
            throw BookplateError.invalidInput(
                "There is no book with the number \(number). Run `bookshelf list`.")
        }
        return books[index - 1]
    }

    private static func synchronize(_ library: Library) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await library.run(feed: FeedPrefetch()) }
            group.addTask {
                for try await status in library.status
                where status.isComplete && status.unsentChanges == 0 { return }
            }
            try await group.next()
            group.cancelAll()
        }
        show(try await first(library.books.all()))
    }

    private static func watch(_ library: Library) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await library.run(feed: FeedPrefetch()) }
            group.addTask {
                for try await books in library.books.all() {
                    print("---")
                    show(books)
                }
            }
            try await group.next()
        }
    }

    private static func find(_ text: String, _ library: Library) async throws {
        struct Response: Decodable {
            struct Search: Decodable { let nodes: [Card] }
            struct Card: Decodable {
                let title: String
                let author: String?
            }
            let search: Search
        }
        let found: Response = try await library.query(
            "query ($text: String!) { search(query: $text, first: 10) { nodes { title author } } }",
            variables: ["text": .string(text)])
        for card in found.search.nodes {
            print("\(card.title), \(card.author ?? "unknown author")")
        }
    }

    /// Returns the present value of an observation.
    private static func first<Values: AsyncSequence, Element>(_ values: Values) async throws
        -> [Element]
    where Values.Element == [Element] {
        for try await value in values { return value }
        return []
    }

    /// A development server issues identity tokens itself. An app gets them from Apple.
    private static func identityToken(of subject: String, at server: URL) async throws -> String {
        struct Response: Decodable { let identityToken: String }
        let request = HTTPRequest(
            method: "POST", url: server.appendingPathComponent("development/identity-token"),
            headers: ["Content-Type": "application/json"],
            body: try JSONEncoder().encode(["subject": subject, "audience": "dev.bookplate.reader"])
        )
        let response = try await URLSessionTransport().send(request)
        return try JSONDecoder().decode(Response.self, from: response.body).identityToken
    }
}
