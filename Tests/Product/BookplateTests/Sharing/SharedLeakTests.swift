import GraphQL
import TestBasics
import TestSupport
import Testing

@testable import Bookplate

/// Random libraries in which each text of the reader has a mark of its own. A link shows the marks of what it shares, and no other mark and no
/// id of the reader.
@Suite struct SharedLeakTests {
    static let app = Shared { try await TestApp.start(catalog: []) }

    /// A library with the marks that each link may show.
    private struct Library {
        let world: SharedWorld
        var random: SeededGenerator
        /// All marks of the library.
        var marks: Set<String> = []
        /// The object of each link, and the marks that its page must show.
        var links: [(item: Value, shown: Set<String>)] = []
        /// Marks of the title and the author.
        var titles: [Set<String>] = []
        /// The books by the index of their shelf.
        var shelved: [[Int]] = []
        var finished: [Int: Set<Int>] = [:]

        init(_ world: SharedWorld, seed: UInt64) {
            self.world = world
            random = SeededGenerator(seed)
        }

        mutating func mark() -> String {
            let mark = "zq\(UInt32.random(in: .min ... .max, using: &random))zq"
            marks.insert(mark)
            return mark
        }

        mutating func text() -> Value { .string(mark()) }

        mutating func chance() -> Bool { Bool.random(using: &random) }
    }

    private func makeLibrary(_ world: SharedWorld, seed: UInt64) async throws -> Library {
        var library = Library(world, seed: seed)
        let reader = world.reader
        var shelves: [(id: Value, name: String)] = []
        for _ in 0..<3 {
            let name = library.mark()
            shelves.append((try await reader.makeShelf(name), name))
        }
        library.shelved = shelves.map { _ in [] }
        for index in 0..<4 {
            let (title, author) = (library.mark(), library.mark())
            library.titles.append([title, author])
            let on = shelves.indices.filter { _ in library.chance() }
            for shelf in on { library.shelved[shelf].append(index) }
            let book = try await reader.makeBook([
                "title": .string(title), "subtitle": library.text(),
                "authors": [["name": .string(author)]], "publisher": library.text(),
                "category": library.text(), "genre": library.text(), "description": library.text(),
                "status": "READ", "shelfIds": .list(on.map { shelves[$0].id }),
            ])
            _ = try await reader.requireValue(
                "mutation($id: ID!, $notes: String) { updateBook(id: $id, input: {privateNotes: $notes}) { id } }",
                ["id": book, "notes": library.text()], "updateBook", "id")
            if library.chance() {
                _ = try await reader.setCover(
                    "mutation($book: ID!, $image: Upload!) { setCover(id: $book, input: {image: $image}) { id } }",
                    book, TestImage.png())
            }
            let review = library.mark()
            library.links.append(
                (
                    ["reviewId": try await reader.review(book, text: review)],
                    [title, author, review]
                ))
            for _ in 0..<2 {
                let words = [library.mark(), library.mark(), library.mark()]
                let note = try await world.note(
                    book,
                    [
                        "text": .string(words[0]), "comment": .string(words[1]),
                        "chapter": .string(words[2]),
                    ])
                library.links.append((["noteId": note], Set([title, author] + words)))
            }
            let year = library.chance() ? 2023 : 2024
            library.finished[year, default: []].insert(index)
            _ = try await reader.requireValue(
                "mutation($book: ID!, $input: ReadInput) { startRead(id: $book, input: $input) { id } }",
                [
                    "book": book,
                    "input": ["finishedOn": .string("\(year)-05"), "note": library.text()],
                ], "startRead")
        }
        for (shelf, books) in zip(shelves, library.shelved) {
            let shown = books.reduce(into: Set([shelf.name])) { $0.formUnion(library.titles[$1]) }
            library.links.append((["shelfId": shelf.id], shown))
        }
        for year in [2023, 2024] {
            let shown = (library.finished[year] ?? []).reduce(into: Set<String>()) {
                $0.formUnion(library.titles[$1])
            }
            library.links.append((["year": .int(year)], shown))
        }
        return library
    }

    /// The ids of the reader and of all the reader's rows.
    private func ids(of reader: TestReader) async throws -> [String] {
        let user = reader.id.string ?? ""
        return try await reader.app.database.withConnection { connection in
            try connection.texts(
                """
                SELECT c.relname::text FROM pg_class c JOIN pg_attribute u ON u.attrelid = c.oid
                JOIN pg_attribute i ON i.attrelid = c.oid WHERE c.relnamespace = 'public'::regnamespace
                AND c.relkind IN ('r', 'p') AND u.attname = 'user_id' AND i.attname = 'id'
                AND i.atttypid = 'uuid'::regtype AND NOT i.attisdropped
                """
            ).flatMap { table in
                try connection.texts("SELECT id::text FROM \(table) WHERE user_id = '\(user)'")
            } + [user]
        }
    }

    @Test(arguments: 1...6)
    func linksShowOnlyWhatTheyShare(run: UInt64) async throws {
        let seed = SeededGenerator.testSeed &+ run
        let app = try await Self.app()
        let subject = "secret.\(seed)"
        let signIn = try await app.signIn(
            subject: subject, email: "zqmailzq@example.com", displayName: "zqnamezq")
        let world = SharedWorld(try TestReader(app, subject, signIn))
        let library = try await makeLibrary(world, seed: seed)
        let ids = try await ids(of: world.reader)
        #expect(ids.count > 30)
        for (item, shown) in library.links {
            let showsName = item["year"] != nil
            let (id, token) = try await world.share(item, ["showsName": .boolean(showsName)])
            let response = try await world.visit(token)
            let page = try await world.get(token)
            #expect(page.status == 200 && response.errors.isEmpty)
            for text in ["\(response.json)", page.text] {
                let found = Set(text.matches(of: /zq\w+?zq/).map { String($0.0) })
                #expect(
                    found == shown.union(showsName ? ["zqnamezq"] : []), "seed \(seed): \(item)")
                #expect(!text.contains(subject), "seed \(seed)")
                for id in ids + [id.string ?? ""] {
                    #expect(
                        !text.contains(id) && !text.contains(id.filter { $0 != "-" }),
                        "seed \(seed): \(item)")
                }
            }
        }
    }
}
