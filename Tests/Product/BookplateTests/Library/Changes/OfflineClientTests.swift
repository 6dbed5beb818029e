import GraphQL
import Synchronization
import TestBasics
import TestSupport
import Testing

@testable import Bookplate

/// Several devices change one library concurrently. A client that only reads the change log ends up with the library
/// that a query returns.
@Suite struct OfflineClientTests {
    private static let app = Shared { try await TestApp.start() }
    private static let cards = Shared {
        try await OfflineClientTests.app().makeReader().feedCards(20).map { $0["id"] ?? .null }
    }

    /// The types of the log.
    private static let types = [
        "Shelf", "Book", "Review", "Read", "ProgressEntry", "ReadingGoal", "Note",
    ]

    /// Fields whose changes are not in the log. They follow from other objects of the log, or from the time.
    private static let derivedFields: Set = [
        "Book.currentRead", "Read.progress", "ReadingGoal.progress", "ReadingGoal.expected",
        "ReadingGoal.isOnTrack", "ReadingGoal.isReached",
    ]

    /// All fields of a type that need no argument: values, the ids of related objects, and the values of objects without an id. The objects
    /// of connections are in the log themselves. `Note.given` has an alias, because it may be null, and that of progress entries may not.
    private static func selection(of name: String) -> String {
        let schema = GeneratedProbeTests.schema
        let nodes = schema.possibleTypes(of: schema.type(named: "Node") ?? schema.queryType)
            .map(\.name)
        let fields = (schema.type(named: name)?.fieldsType?.fields ?? []).compactMap {
            field -> String? in
            let type = field.type.namedType
            if derivedFields.contains("\(name).\(field.name)") || type.hasSuffix("Connection") {
                return nil
            }
            if nodes.contains(type) { return "\(field.name) { id }" }
            guard schema.type(named: type)?.isComposite == true else {
                return name == "Note" && field.name == "given"
                    ? "givenPosition: given" : field.name
            }
            return field.name + Literals(schema: schema).selection(of: field.type, depth: 1)
        }
        return "__typename " + fields.joined(separator: " ")
    }

    private static let fields =
        "__typename id "
        + types.map { "... on \($0) { \(selection(of: $0)) }" }.joined(separator: " ")

    private struct Client {
        var objects: [String: Value] = [:]
        var cursor = Value.null
        var seen: Set<String> = []

        /// Applies the next page. Returns whether there are more.
        mutating func sync(_ reader: TestReader, first: Int) async throws -> Bool {
            let page = try await reader.requireValue(
                """
                query($after: String, $first: Int) { changes(after: $after, first: $first) {
                  changes { cursor kind nodeId node { \(OfflineClientTests.fields) } }
                  pageInfo { endCursor hasNextPage } resetRequired } }
                """, ["after": cursor, "first": .int(first)], "changes")
            #expect(page["resetRequired"] == false)
            for change in page["changes"]?.list ?? [] {
                let isNew = seen.insert(change["cursor"]?.string ?? "").inserted
                #expect(isNew, "each change is delivered once")
                let id = change["nodeId"]?.string ?? ""
                if let node = change["node"], !node.isNull {
                    objects[id] = node
                } else {
                    objects[id] = nil
                }
            }
            cursor = page["pageInfo", "endCursor"] ?? .null
            return page["pageInfo", "hasNextPage"] == true
        }
    }

    /// The ids that the devices know. Some of these objects may be deleted by now.
    private final class Known: Sendable {
        private let ids = Mutex<(shelves: [Value], books: [Value], reads: [Value], notes: [Value])>(
            ([], [], [], []))

        func add(shelf: Value) { ids.withLock { $0.shelves.append(shelf) } }
        func add(book: Value) { ids.withLock { $0.books.append(book) } }
        func add(read: Value) { ids.withLock { $0.reads.append(read) } }
        func add(note: Value) { ids.withLock { $0.notes.append(note) } }
        func note(_ random: inout SeededGenerator) -> Value {
            ids.withLock { $0.notes.randomElement(using: &random) ?? "" }
        }
        func read(_ random: inout SeededGenerator) -> Value {
            ids.withLock { $0.reads.randomElement(using: &random) ?? "" }
        }
        func shelf(_ random: inout SeededGenerator) -> Value {
            ids.withLock { $0.shelves.randomElement(using: &random) ?? "" }
        }
        func book(_ random: inout SeededGenerator) -> Value {
            ids.withLock { $0.books.randomElement(using: &random) ?? "" }
        }
    }

    private func mutate(
        _ reader: TestReader, _ known: Known, _ random: inout SeededGenerator
    ) async throws {
        let number = Int.random(in: 0..<1_000_000, using: &random)
        let status = ["WANT_TO_READ", "READING", "READ", "PAUSED"].randomElement(using: &random)!
        let (shelf, other) = (known.shelf(&random), known.shelf(&random))
        let book = known.book(&random)
        let response: TestResponse
        switch Int.random(in: 0..<22, using: &random) {
        case 0:
            response = try await reader.execute(
                "mutation($n: String!) { createShelf(input: {name: $n}) { id } }",
                ["n": "Shelf \(number)"])
            if let id = response["createShelf", "id"] { known.add(shelf: id) }
        case 1, 2:
            response = try await reader.execute(
                """
                mutation($t: String!, $s: [ID!], $st: ReadingStatus!) {
                  createBook(input: {title: $t, shelfIds: $s, status: $st}) { id } }
                """, ["t": "Book \(number)", "s": [shelf], "st": .string(status)])
            if let id = response["createBook", "id"] { known.add(book: id) }
        case 3:
            response = try await reader.execute(
                "mutation($i: [CreateBookInput!]!) { createBooks(inputs: $i) { book { id } } }",
                [
                    "i": .list(
                        (0..<3).map {
                            ["title": "Bulk \(number).\($0)", "status": .string(status)]
                        }
                    )
                ])
            for entry in response["createBooks"]?.list ?? [] {
                if let id = entry["book", "id"] { known.add(book: id) }
            }
        case 4, 5:
            response = try await reader.execute(
                """
                mutation($id: ID!, $st: ReadingStatus!, $s: [ID!], $p: Int) {
                  updateBook(id: $id, input: {status: $st, shelfIds: $s, currentPage: $p}) { id } }
                """,
                [
                    "id": book, "st": .string(status), "s": [shelf, other], "p": .int(number % 500),
                ])
        case 6:
            response = try await reader.execute(
                "mutation($id: ID!, $to: ID!) { moveBook(id: $id, input: {to: $to}) { book { id } } }",
                ["id": book, "to": shelf])
        case 7, 8:
            response = try await reader.execute(
                """
                mutation($id: ID!, $r: Int!) {
                  reviewBook(id: $id, input: {rating: $r, text: "Words \(number)"}) { id } }
                """, ["id": book, "r": .int(number % 5 + 1)])
        case 12:
            response = try await reader.execute(
                """
                mutation($id: ID!, $o: ReadOutcome!, $on: PartialDate) {
                  startRead(id: $id, input: {outcome: $o, startedOn: $on}) { id } }
                """,
                [
                    "id": book, "on": "2019-0\(number % 9 + 1)",
                    "o": number % 3 == 0 ? "READING" : "FINISHED",
                ])
            if let id = response["startRead", "id"] { known.add(read: id) }
        case 13:
            response = try await reader.execute(
                """
                mutation($input: LogProgressInput!) {
                  logProgress(inputs: [$input]) { entry { id } } }
                """,
                [
                    "input": [
                        "readId": known.read(&random), "note": "Words",
                        (number % 2 == 0 ? "percent" : "page"): .int(number % 100),
                    ]
                ])
        case 14:
            response = try await reader.execute(
                number % 3 == 0
                    ? "mutation($id: ID!) { deleteRead(id: $id) { id } }"
                    : "mutation($id: ID!) { finishRead(id: $id) { id } }",
                ["id": known.read(&random)])
        case 15:
            response = try await reader.execute(
                "mutation($y: Int!, $t: Int!) { setReadingGoal(input: {year: $y, target: $t}) { id } }",
                ["y": .int(2020 + number % 4), "t": .int(number % 7 + 1)])
        case 16:
            response = try await reader.execute(
                """
                mutation($id: ID!, $t: String!, $p: Int) {
                  createNote(input: {bookId: $id, text: $t, color: BLUE, page: $p}) { id } }
                """, ["id": book, "t": "Quote \(number)", "p": .int(number % 100)])
            if let id = response["createNote", "id"] { known.add(note: id) }
        case 17:
            response = try await reader.execute(
                number % 3 == 0
                    ? "mutation($id: ID!) { deleteNote(id: $id) { id } }"
                    : "mutation($id: ID!) { updateNote(id: $id, input: {color: RED}) { id } }",
                ["id": known.note(&random)])
        case 18, 19:
            response = try await reader.execute(
                "mutation($id: ID!, $n: Int) { updateBook(id: $id, input: {pageCount: $n}) { id } }",
                ["id": book, "n": number % 5 == 0 ? .null : .int(500 + number % 500)])
        case 20:
            response = try await reader.execute(
                "mutation($id: ID!, $n: Int) { updateRead(id: $id, input: {lengthSeconds: $n}) { id } }",
                ["id": known.read(&random), "n": .int(number % 9000 + 1000)])
        case 21:
            response = try await reader.execute(
                "mutation($id: ID!, $card: ID!) { updateBook(id: $id, input: {cardId: $card}) { id } }",
                ["id": book, "card": try await Self.cards().randomElement(using: &random) ?? .null])
        case 9:
            response = try await reader.execute(
                "mutation($id: ID!) { updateShelf(id: $id, input: {position: 0}) { id } }",
                ["id": shelf])
        case 10:
            let books = ["KEEP", "MOVE", "DELETE"].randomElement(using: &random)!
            response = try await reader.execute(
                "mutation($id: ID!, $b: ShelfBooks, $to: ID) { deleteShelf(id: $id, input: {books: $b, moveTo: $to}) { id } }",
                ["id": shelf, "b": .string(books), "to": other])
        default:
            response = try await reader.execute(
                number % 2 == 0
                    ? "mutation($id: ID!) { deleteBook(id: $id) { id } }"
                    : "mutation($id: ID!) { deleteReview(id: $id) { book { id } } }", ["id": book])
        }
        // Deleted objects and taken names are rejected. No request fails with an internal error.
        if let code = response.code {
            #expect(
                ["NOT_FOUND", "BAD_USER_INPUT", "CONFLICT"].contains(code), "\(response.json)")
        }
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func clientThatReadsTheLogGetsTheWholeLibrary(seed: UInt64) async throws {
        let reader = try await Self.app().makeReader()
        let known = Known()
        var client = Client()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for device in 1...3 {
                group.addTask {
                    var random = SeededGenerator(seed &* 100 &+ UInt64(device))
                    for _ in 0..<50 { try await self.mutate(reader, known, &random) }
                }
            }
            var random = SeededGenerator(seed)
            for _ in 0..<20 {
                _ = try await client.sync(reader, first: .random(in: 1...9, using: &random))
            }
            try await group.waitForAll()
        }
        while try await client.sync(reader, first: 50) {}

        // The log does not name the entries that are deleted with their read, and the notes that are deleted with their book.
        client.objects = client.objects.filter { _, object in
            (object["read", "id"] ?? object["book", "id"])?.string
                .map { client.objects[$0] != nil } ?? true
        }
        let fresh = try await library(reader)
        #expect(fresh.count > 5)
        #expect(Set(client.objects.keys) == Set(fresh.keys))
        for (id, object) in fresh {
            #expect(client.objects[id].map(withSortedShelves) == withSortedShelves(object))
        }
    }

    /// Sorts a book's shelves by id. A query returns them in the order of their positions, but moving a shelf changes only
    /// the shelf and not its books.
    private func withSortedShelves(_ object: Value) -> Value {
        guard case .object(let members) = object else { return object }
        return .object(
            members.map { member in
                guard member.name == "shelves", let shelves = member.value.list else {
                    return member
                }
                return .init(
                    member.name,
                    .list(shelves.sorted { ($0["id"]?.string ?? "") < ($1["id"]?.string ?? "") }))
            })
    }

    private func library(_ reader: TestReader) async throws -> [String: Value] {
        let shelves = try await reader.requireValue(
            "{ me { shelves { \(Self.selection(of: "Shelf")) } } }", .null, "me", "shelves")
        let goals = try await reader.requireValue(
            "{ me { readingGoals { \(Self.selection(of: "ReadingGoal")) } } }", .null, "me",
            "readingGoals")
        var objects = (shelves.list ?? []) + (goals.list ?? [])
        for (field, selection) in [
            ("books", Self.selection(of: "Book")), ("notes", Self.selection(of: "Note")),
            ("reviews", Self.selection(of: "Review")),
            (
                "reads",
                Self.selection(of: "Read")
                    + " progressEntries(first: 100) { nodes { \(Self.selection(of: "ProgressEntry")) } }"
            ),
        ] {
            var cursor = Value.null
            while true {
                let page = try await reader.requireValue(
                    """
                    query($after: String) { me { \(field)(first: 30, after: $after) {
                      nodes { \(selection) } pageInfo { hasNextPage endCursor } } } }
                    """, ["after": cursor], "me", .name(field))
                for object in page["nodes"]?.list ?? [] {
                    objects += object["progressEntries", "nodes"]?.list ?? []
                    objects.append(object.without("progressEntries"))
                }
                guard page["pageInfo", "hasNextPage"] == true else { break }
                cursor = page["pageInfo", "endCursor"] ?? .null
            }
        }
        return Dictionary(uniqueKeysWithValues: objects.map { ($0["id"]?.string ?? "", $0) })
    }
}

extension Value {
    fileprivate func without(_ name: String) -> Value {
        guard case .object(let members) = self else { return self }
        return .object(members.filter { $0.name != name })
    }
}
