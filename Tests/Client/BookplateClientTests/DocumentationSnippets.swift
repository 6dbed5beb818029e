import BookplateClient
import Foundation

// The code of docs/how-to/use-the-swift-client.md and docs/how-to/move-from-supabase.md. `DocumentationTests` compares them.

private func show(_ values: Any?...) {}
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

private func scanned(_ library: Library, _ code: String) throws {
    switch try library.books.scan(code) {
    case .added(let book): show(book)
    case .inLibrary(let book): tell("You have this book.", book)
    }
}

private func discover(_ library: Library) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await library.run(feed: FeedPrefetch(genres: ["Horror"], cards: 40)) }
        group.addTask {
            for try await cards in library.feed.cards(limit: 3) { show(cards) }
        }
        try await group.next()
    }
}

private func swipe(_ library: Library, _ card: FeedCard) throws {
    try library.feed.swipe(card, .like)
    try library.feed.undo()
    try library.feed.swipe(card, .dislike, scope: .author)
}

private func cover(_ library: Library, _ image: CoverImage) async throws {
    if let file = library.covers.cachedData(of: image) {
        show(file)
    } else {
        show(image.placeholder())
    }
    show(try await library.covers.data(of: image, size: image.size(width: 120, scale: 3)))
}

private func setCover(_ library: Library, of book: String, to photo: Data, next: [Book])
    async throws
{
    try library.covers.set(photo, of: book)
    await library.covers.prefetch(next.compactMap(\.image), size: .thumbnail)
}

private func importFile(_ library: Library, _ file: Data) async throws {
    let id = try await library.imports.start(file)
    for try await progress in library.imports.progress(of: id) {
        show(progress.fraction, progress.created, progress.failed)
    }
}

private func exportLibrary(_ library: Library, to file: URL) async throws {
    try await library.export(to: file) { bytes in show(bytes) }
}

@MainActor private func screen(_ library: Library) async {
    let reading = Observed(library.books.all(status: .reading))
    show(reading.value ?? [])
    await reading.follow()
}

private func readingScreen(_ library: Library) async throws {
    for try await books in library.books.all(status: .reading) { show(books) }
}

private func finish(_ library: Library, _ book: Book) throws {
    try library.books.finish(book.id)
}

private func move(_ library: Library, _ file: Data) async throws {
    let id = try await library.imports.start(file)
    for try await progress in library.imports.progress(of: id) { show(progress.fraction) }
}
