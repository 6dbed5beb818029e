import GraphQL
import Synchronization
import TestBasics
import TestSupport

/// An app that changes the library of a user and repeats each request until the server has confirmed it.
struct FaultWriter {
    let client: HTTPClient
    let token: String
    let progress: WriteProgress
    /// The catalog cards that may be swiped.
    private let cards: [String]
    private var unlikedCards: [String]
    private var random: SeededGenerator
    // The following changes are confirmed by the server.
    /// Titles and statuses by the ids of books.
    private(set) var books: [String: (title: String, status: String)] = [:]
    /// Names by the ids of shelves.
    private(set) var shelves: [String: String] = [:]
    /// The shelves of books. No book is on two.
    private(set) var shelfOfBook: [String: String] = [:]
    /// Ratings and texts by the ids of books.
    private(set) var reviews: [String: String] = [:]
    /// The card, the action, and the time of each swipe.
    private(set) var swipes: [[String]] = []
    /// The ids of deleted books and shelves.
    private(set) var deleted: Set<String> = []
    /// The number of requests that had to be repeated.
    private(set) var repeatedCount = 0

    private static let statuses = ["WANT_TO_READ", "READING", "READ"]
    /// Enough for more than a minute without a server.
    private static let attemptsMax = 1500
    /// An app does not send its next change immediately.
    private static let pause = Duration.milliseconds(10)

    struct Failure: Error, CustomStringConvertible { let description: String }

    init(
        client: HTTPClient, token: String, progress: WriteProgress, cards: [String],
        random: SeededGenerator
    ) {
        self.client = client
        self.token = token
        self.progress = progress
        self.cards = cards
        unlikedCards = cards
        self.random = random
    }

    /// Makes changes until `progress.end()` is called.
    mutating func run() async throws {
        var number = 0
        while !progress.isEnded {
            number += 1
            try await change(number)
            progress.confirm()
            try await Task.sleep(for: Self.pause)
        }
    }

    /// Makes one change of a random kind.
    private mutating func change(_ number: Int) async throws {
        let known = books.keys.sorted().randomElement(using: &random)
        switch (Int.random(in: 0..<20, using: &random), known) {
        case (0..<4, _), (_, nil): try await create("Book \(number)")
        case (4, let id?): try await delete(id)
        case (5..<7, let id?):
            books[id]?.title = "Renamed \(number)"
            try await update(id, ["title": .string("Renamed \(number)")])
        case (7..<10, let id?): try await review(id, number)
        case (10..<12, _): try await changeShelf(number)
        case (12..<14, let id?): try await move(id, number)
        case (14..<16, _) where !cards.isEmpty: try await swipe(number)
        case (_, let id?):
            try await setStatus(id, Self.statuses[Int.random(in: 0..<3, using: &random)])
        }
    }

    private mutating func create(_ title: String) async throws {
        let id = random.uuid()
        try await confirm(
            "mutation($id: ID!, $title: String!) { createBook(input: {id: $id, title: $title}) { id } }",
            ["id": .string(id), "title": .string(title)])
        books[id] = (title, "WANT_TO_READ")
    }

    private mutating func update(_ id: String, _ input: Value) async throws {
        try await confirm(
            "mutation($id: ID!, $input: UpdateBookInput!) { updateBook(id: $id, input: $input) { id } }",
            ["id": .string(id), "input": input])
    }

    private mutating func setStatus(_ id: String, _ status: String) async throws {
        books[id]?.status = status
        try await update(id, ["status": .string(status)])
    }

    private mutating func delete(_ id: String) async throws {
        // The first attempt may have deleted the book although no response arrived.
        try await confirm(
            "mutation($id: ID!) { deleteBook(id: $id) { id } }", ["id": .string(id)],
            doneIf: "NOT_FOUND")
        books[id] = nil
        reviews[id] = nil
        shelfOfBook[id] = nil
        deleted.insert(id)
    }

    /// Creates, changes, or deletes the review of a book.
    private mutating func review(_ id: String, _ number: Int) async throws {
        if reviews[id] != nil, Int.random(in: 0..<3, using: &random) == 0 {
            try await confirm(
                "mutation($id: ID!) { deleteReview(id: $id) { id } }", ["id": .string(id)])
            reviews[id] = nil
            return
        }
        let rating = Int.random(in: 1...5, using: &random)
        let text = "Review \(number)"
        try await confirm(
            "mutation($id: ID!, $input: ReviewInput!) { reviewBook(id: $id, input: $input) { id } }",
            ["id": .string(id), "input": ["rating": .int(rating), "text": .string(text)]])
        reviews[id] = "\(rating) \(text)"
    }

    /// Creates, renames, or deletes a shelf.
    private mutating func changeShelf(_ number: Int) async throws {
        let name = "Shelf \(number)"
        let known = shelves.keys.sorted().randomElement(using: &random)
        switch (Int.random(in: 0..<3, using: &random), known) {
        case (0, let id?):
            try await confirm(
                "mutation($id: ID!) { deleteShelf(id: $id) { id } }", ["id": .string(id)])
            shelves[id] = nil
            shelfOfBook = shelfOfBook.filter { $0.value != id }
            deleted.insert(id)
        case (1, let id?):
            try await confirm(
                "mutation($id: ID!, $name: String!) { updateShelf(id: $id, input: {name: $name}) { id } }",
                ["id": .string(id), "name": .string(name)])
            shelves[id] = name
        default:
            let id = random.uuid()
            try await confirm(
                "mutation($id: ID!, $name: String!) { createShelf(input: {id: $id, name: $name}) { id } }",
                ["id": .string(id), "name": .string(name)])
            shelves[id] = name
        }
    }

    /// Moves a book to a shelf, and removes it from the others.
    private mutating func move(_ id: String, _ number: Int) async throws {
        guard let shelf = shelves.keys.sorted().randomElement(using: &random) else {
            return try await changeShelf(number)
        }
        try await confirm(
            "mutation($id: ID!, $to: ID!) { moveBook(id: $id, input: {to: $to}) { book { id } } }",
            ["id": .string(id), "to": .string(shelf)])
        shelfOfBook[id] = shelf
    }

    /// Swipes a card. A card is liked once at most, which adds its book to the library.
    private mutating func swipe(_ number: Int) async throws {
        let isLike = !unlikedCards.isEmpty && Int.random(in: 0..<4, using: &random) == 0
        let action = isLike ? "LIKE" : Bool.random(using: &random) ? "SKIP" : "DISLIKE"
        guard let card = (isLike ? unlikedCards : cards).randomElement(using: &random) else {
            return
        }
        if isLike { unlikedCards.removeAll { $0 == card } }
        // Later than the time of the previous swipe.
        let time = "2020-01-01T00:00:00.\(String(1_000_000 + number).suffix(6))Z"
        let data = try await confirm(
            """
            mutation($inputs: [SwipeInput!]!) {
              recordSwipes(inputs: $inputs) { recorded saved { id title status } }
            }
            """,
            [
                "inputs": [
                    ["cardId": .string(card), "action": .string(action), "swipedAt": .string(time)]
                ]
            ])
        swipes.append([card, "\(action) \(time)"])
        for book in data["recordSwipes", "saved"]?.list ?? [] {
            guard let id = book["id"]?.string, let title = book["title"]?.string,
                let status = book["status"]?.string
            else { continue }
            books[id] = (title, status)
        }
    }

    /// Sends a request until it succeeds.
    ///
    /// - Parameter code: An error of a repeated request which shows that an earlier attempt has succeeded.
    /// - Returns: The data of the response; null if there was such an error.
    @discardableResult
    private mutating func confirm(
        _ query: String, _ variables: Value, doneIf code: String? = nil
    ) async throws -> Value {
        for attempt in 0..<Self.attemptsMax {
            if attempt > 0 {
                repeatedCount += 1
                try await Task.sleep(for: .milliseconds(50))
            }
            guard let response = try? await client.post(query, variables, token: token).json,
                !response.isNull
            else { continue }
            guard let errors = response["errors"] else { return response["data"] ?? .null }
            switch errors[0, "extensions", "code"]?.string {
            case "SERVICE_UNAVAILABLE": continue
            case let found? where found == code && attempt > 0: return .null
            default: throw Failure(description: "\(variables): \(errors)")
            }
        }
        throw Failure(description: "not confirmed after \(Self.attemptsMax) attempts: \(variables)")
    }
}

/// The progress of a writer, for other tasks.
final class WriteProgress: Sendable {
    private let state = Mutex((confirmedCount: 0, isEnded: false))

    var confirmedCount: Int { state.withLock { $0.confirmedCount } }
    var isEnded: Bool { state.withLock { $0.isEnded } }

    func confirm() { state.withLock { $0.confirmedCount += 1 } }
    func end() { state.withLock { $0.isEnded = true } }
}

extension SeededGenerator {
    /// A UUID in the form that an app chooses, from a seeded generator.
    fileprivate mutating func uuid() -> String {
        func hex(_ count: Int, _ random: inout SeededGenerator) -> String {
            (0..<count).map { _ in String(Int.random(in: 0..<16, using: &random), radix: 16) }
                .joined()
        }
        return "0198c0de-\(hex(4, &self))-7\(hex(3, &self))-8\(hex(3, &self))-\(hex(12, &self))"
    }
}
