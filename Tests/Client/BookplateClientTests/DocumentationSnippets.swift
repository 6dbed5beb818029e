import BookplateClient
import Foundation

// The code of docs/how-to/use-the-swift-client.md. `DocumentationTests` compares the two.

private func show(_ values: Any...) {}
private func tell(_ values: Any...) {}

private func library(of bookplate: Bookplate, _ credential: AppleCredential) async throws -> Library
{
    if let library = try await bookplate.library { return library }
    return try await bookplate.signIn(apple: credential)
}

private func run(_ library: Library) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await library.run() }
        group.addTask {
            for try await books in library.books.all(status: .reading) { show(books) }
        }
        group.addTask {
            for try await problems in library.problems { tell(problems) }
        }
        try await group.next()
    }
}

private func makeBookplate(in folder: URL) throws -> Bookplate {
    guard let server = URL(string: "https://books.example.com") else {
        throw BookplateError.invalidInput("The address of the server is not valid.")
    }
    return try Bookplate(
        server: server, app: "com.example.reader", folder: folder,
        sessionStore: FileSessionStore(folder: folder))
}

private func observe(_ library: Library, shelf: String, book: String) async throws {
    for try await shelves in library.shelves.all() { show(shelves) }
    for try await books in library.books.all(shelf: shelf, by: .title, limit: 200) { show(books) }
    for try await reads in library.reads.of(book: book) { show(reads) }
    for try await notes in library.notes.of(book: book) { show(notes) }
    for try await status in library.status { show(status.isComplete, status.unsentChanges) }
}

private func change(_ library: Library, book: String) throws {
    let shelf = try library.shelves.create("Evenings")
    let scanned = try library.books.add(.init(isbn: "978-0-306-40615-7", shelves: [shelf]))
    try library.books.update(scanned) { $0.privateNotes = "Lent to Ada" }

    let read = try library.reads.start(book, format: .ebook)
    try library.reads.log(.page(120), in: read)
    try library.books.finish(book, on: "2026-01-31", stars: 4.5)
    try library.notes.create(book, text: "Fear is the mind-killer.", color: .yellow, at: .page(12))
    try library.goals.set(24, in: 2026)
}

private func dismissAll(_ library: Library) async throws {
    for try await problems in library.problems {
        for problem in problems {
            tell(problem.message, problem.undone)
            try library.dismiss(problem)
        }
    }
}

private struct Search: Decodable {
    struct Cards: Decodable { let nodes: [Card] }
    struct Card: Decodable { let id, title: String }
    let search: Cards
}

private func search(_ library: Library, _ text: String) async throws -> [Search.Card] {
    let found: Search = try await library.query(
        "query ($text: String!) { search(query: $text) { nodes { id title } } }",
        variables: ["text": .string(text)])
    return found.search.nodes
}
