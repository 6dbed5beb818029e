import GraphQL
import Synchronization
import TestSupport

/// An app that changes the library of a user and repeats each request until the server has confirmed it.
struct FaultWriter {
    let client: HTTPClient
    let token: String
    let progress: WriteProgress
    private var random: SeededGenerator
    /// The confirmed titles and statuses by the ids of books.
    private(set) var books: [String: (title: String, status: String)] = [:]
    private(set) var deletedBooks: Set<String> = []
    /// The number of requests that had to be repeated.
    private(set) var repeatedCount = 0

    private static let statuses = ["WANT_TO_READ", "READING", "READ"]
    /// Enough for more than a minute without a server.
    private static let attemptsMax = 1500

    struct Failure: Error, CustomStringConvertible { let description: String }

    init(
        client: HTTPClient, token: String, progress: WriteProgress, random: SeededGenerator
    ) {
        self.client = client
        self.token = token
        self.progress = progress
        self.random = random
    }

    /// Makes changes until `progress.end()` is called.
    mutating func run() async throws {
        var number = 0
        while !progress.isEnded {
            number += 1
            try await change(number)
            progress.confirm()
        }
    }

    /// Makes one change of a random kind.
    private mutating func change(_ number: Int) async throws {
        let known = books.keys.sorted().randomElement(using: &random)
        switch (Int.random(in: 0..<10, using: &random), known) {
        case (0..<3, _), (_, nil): try await create("Book \(number)")
        case (3, let id?): try await delete(id)
        case (4..<6, let id?):
            books[id]?.title = "Renamed \(number)"
            try await update(id, ["title": .string("Renamed \(number)")])
        case (_, let id?):
            let status = Self.statuses[Int.random(in: 0..<3, using: &random)]
            books[id]?.status = status
            try await update(id, ["status": .string(status)])
        }
    }

    private mutating func create(_ title: String) async throws {
        let id = random.uuid()
        _ = try await confirm(
            "mutation($id: ID!, $title: String!) { createBook(input: {id: $id, title: $title}) { id } }",
            ["id": .string(id), "title": .string(title)])
        books[id] = (title, "WANT_TO_READ")
    }

    private mutating func update(_ id: String, _ input: Value) async throws {
        _ = try await confirm(
            "mutation($id: ID!, $input: UpdateBookInput!) { updateBook(id: $id, input: $input) { id } }",
            ["id": .string(id), "input": input])
    }

    private mutating func delete(_ id: String) async throws {
        // The first attempt may have deleted the book although no response arrived.
        _ = try await confirm(
            "mutation($id: ID!) { deleteBook(id: $id) { id } }", ["id": .string(id)],
            doneIf: "NOT_FOUND")
        books[id] = nil
        deletedBooks.insert(id)
    }

    /// Sends a request until it succeeds.
    ///
    /// - Parameter code: An error of a repeated request which shows that an earlier attempt has succeeded.
    private mutating func confirm(
        _ query: String, _ variables: Value, doneIf code: String? = nil
    ) async throws {
        for attempt in 0..<Self.attemptsMax {
            if attempt > 0 {
                repeatedCount += 1
                try await Task.sleep(for: .milliseconds(50))
            }
            guard let response = try? await client.post(query, variables, token: token).json,
                !response.isNull
            else { continue }
            guard let errors = response["errors"] else { return }
            switch errors[0, "extensions", "code"]?.string {
            case "SERVICE_UNAVAILABLE": continue
            case let found? where found == code && attempt > 0: return
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
