import GraphQL
import Synchronization

struct Day: RawRepresentable, LeafValue, InputValue, Sendable {
    var rawValue: String

    init?(rawValue: String) {
        guard rawValue.utf8.count == 10 else { return nil }
        self.rawValue = rawValue
    }
}

typealias JSON = Value

struct Book: BookFields {
    var id: String
    var title: String
    var pages: Int?
    var published: Day?
    var genre: Genre?
    var tags: [String] = []

    static func price(
        of books: [Book], currency: Currency, _ request: FieldRequest<CallLog>
    ) -> [Double?] {
        books.map { book in book.pages.map { Double($0) * (currency == .eur ? 1 : 2) } }
    }

    static func readers(of books: [Book], _ request: FieldRequest<CallLog>) async throws -> [Int] {
        await request.context.add("readers of \(books.count)")
        return books.map(\.title.count)
    }

    static func author(of books: [Book], _ request: FieldRequest<CallLog>) async -> [Author?] {
        await request.context.add("author of \(books.count)")
        return books.map { $0.id == "1" ? Author(id: "3", name: "Jane Austen") : nil }
    }

    static func similar(
        of books: [Book], first: Int?, _ request: FieldRequest<CallLog>
    ) throws -> [[(any Titled)?]] {
        guard let first else { throw FieldError("first is null.") }
        return books.map { book in Array([library.first { $0.id != book.id }, nil].prefix(first)) }
    }
}

struct Author: AuthorFields {
    var id: String
    var name: String

    static func books(of authors: [Author], _ request: FieldRequest<CallLog>) -> [[Book]] {
        authors.map { _ in library }
    }
}

struct Review: ReviewFields {
    var stars: Int
    var text: String?
}

struct Keywords: KeywordsFields {
    var `default` = "default"
    var `self` = 1
    var `init` = 2
    var `Type` = 3
    var __ = true

    static func `class`(
        of objects: [Keywords], in number: Int, `inout`: Int?, `let`: Int?,
        _ request: FieldRequest<CallLog>
    ) -> [Int] {
        objects.map { _ in number }
    }
}

let library = [
    Book(
        id: "1", title: "Emma", pages: 474, published: Day(rawValue: "1815-12-23"), genre: .novel,
        tags: ["a", "b"]),
    Book(id: "2", title: "Sanditon"),
]

/// The context of a request: the calls of batches.
final class CallLog: ExecutionContext, Sendable {
    private let log = Mutex<[String]>([])

    var calls: [String] { log.withLock { $0 } }

    func add(_ call: String) async { log.withLock { $0.append(call) } }
    func error(for defect: LoaderDefect) -> FieldError { .internalError }
}

struct Queries: QueryFields {
    func books(
        first: Int, filter: BookFilter?, objects: [String]?, request isRequested: Bool?,
        _ request: FieldRequest<CallLog>
    ) async throws -> [Book] {
        await request.context.add(
            "books min \(filter?.pages?.min ?? -1) not \(filter?.not?.genres?.first?.rawValue ?? "-")"
        )
        return Array(library.prefix(first))
    }

    func search(text: String, _ request: FieldRequest<CallLog>) -> [any SearchResult] {
        [library[0], Author(id: "3", name: text)]
    }

    func node(id: String, _ request: FieldRequest<CallLog>) -> (any Node)? {
        library.first { $0.id == id }
    }

    func day(day: Day, _ request: FieldRequest<CallLog>) -> Day { day }

    func grid(_ request: FieldRequest<CallLog>) -> [[Double?]]? { [[1, nil], []] }

    func pet(pet: PetInput, _ request: FieldRequest<CallLog>) -> String { describe(pet) }

    func keywords(_ request: FieldRequest<CallLog>) -> Keywords { Keywords() }

    private func describe(_ pet: PetInput) -> String {
        switch pet {
        case .cat(let name): name
        case .pair(let pets): pets.map(describe).joined(separator: "+")
        case .where(let pet): "(\(describe(pet)))"
        }
    }
}

struct Mutations: MutationFields {
    func review(input: ReviewInput, _ request: FieldRequest<CallLog>) -> Review? {
        Review(stars: input.stars, text: input.text ?? input.day?.rawValue)
    }
}

struct Subscriptions: SubscriptionFields {
    func reviews(stars: [Int]?, _ request: FieldRequest<CallLog>) -> AsyncStream<Review> {
        AsyncStream { events in
            for number in stars ?? [] { events.yield(Review(stars: number)) }
            events.finish()
        }
    }

    func ticks(_ request: FieldRequest<CallLog>) -> AsyncThrowingStream<Int?, any Error> {
        AsyncThrowingStream { $0.finish() }
    }
}
