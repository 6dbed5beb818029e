import Bookplate
import Glibc
import GraphQL
import TestBasics
import TestSupport
import Zip

extension Attack {
    /// Attacks that need more than one root field with expensive arguments.
    static func known() throws -> [Attack] {
        let bomb = try archiveBomb()
        let records = [UInt8](repeatElement(Array("{},".utf8), count: 3_500_000).joined())
        let list = Array("[".utf8) + records + Array("{}]".utf8)
        return [
            Attack(name: "search for long words", connections: 8) { attacker, number in
                var random = SeededGenerator(UInt64(number))
                let fields = (0..<18).map {
                    "a\($0): search(query: \"\(RandomText.text(200, &random))\", first: 1) { nodes { id } }"
                }
                return .send(attacker.post("{ \(fields.joined(separator: " ")) }"))
            },
            Attack(name: "import of an archive of 99 MB", connections: 4, prepared: 1) {
                attacker, _ in
                .send(attacker.upload(bomb, importLibrary))
            },
            Attack(name: "import of 10 MB of JSON", connections: 4, prepared: 1) { attacker, _ in
                .send(attacker.upload(list, importLibrary))
            },
            Attack(name: "new documents of 2,000 fields") { attacker, number in
                let fields = String(repeating: "title ", count: 1_990)
                return .send(
                    attacker.post(
                        "query Q\(number) { me { books(first: 1) { nodes { \(fields) } } } }"))
            },
            Attack(name: "JSON of 1 MB in variables", prepared: 2) { attacker, number in
                let numbers = String(repeating: "[[1]],", count: 170_000)
                return .send(
                    attacker.request(
                        "POST", "/graphql",
                        Array(
                            #"{"query":"{ me { id } }","variables":{"a\#(number)":[\#(numbers)1]}}"#
                                .utf8)))
            },
            Attack(
                name: "writes beside a locked row", connections: 20,
                beside: { attacker, database, isOver in
                    try await database.withConnection(as: nil) { connection in
                        try connection.execute(
                            "BEGIN; SELECT lock_user(id) FROM users WHERE id = '\(attacker.user)' FOR UPDATE"
                        )
                        while !isOver() { usleep(10_000) }
                        try connection.execute("ROLLBACK")
                    }
                }
            ) { attacker, number in
                .send(
                    attacker.post(
                        updateBook,
                        [
                            "id": attacker.book(number),
                            "status": number % 2 == 0 ? "READ" : "PAUSED",
                        ]))
            },
            Attack(name: "updateBooks on 40 connections", connections: 40, prepared: 20) {
                attacker, number in
                let inputs = (0..<100).map { index -> Value in
                    [
                        "id": attacker.book(index),
                        "input": ["title": .string("Title \(number) \(index)")],
                    ]
                }
                return .send(
                    attacker.post(
                        "mutation($i: [UpdateBooksInput!]!) { updateBooks(inputs: $i) { book { id } } }",
                        ["i": .list(inputs)]))
            },
            Attack(name: "uploads of 24 MB", connections: 6, prepared: 1) { attacker, _ in
                .send(
                    attacker.request(
                        "PUT", "/book-covers/\(attacker.user)/\(attacker.bookID(0)).jpg", picture,
                        contentType: "image/png"))
            },
            Attack(name: "connections that are closed") { _, _ in .touch },
            Attack(name: "200 errors in a response") { attacker, _ in
                .send(
                    attacker.post(
                        """
                        { me { books(first: 100) { nodes {
                            a: notes(first: 0) { totalCount } b: reads(first: 0) { nodes { id } } } } } }
                        """))
            },
            Attack(name: "5,000 deferred fragments", connections: 8) { attacker, _ in
                let parts = String(
                    repeating: "... @defer { notes(first: 1) { nodes { id } } } ", count: 49)
                return .send(
                    attacker.post(
                        "{ me { books(first: 100) { nodes { \(parts) } } } }",
                        headers: "accept: multipart/mixed\r\n"))
            },
        ]
    }

    /// An import of books whose covers are then searched for in the background.
    static func coverSearches(books: Int) -> Attack {
        let file = TestLibraryFile.csv(records: books)
        return Attack(
            name: "covers of \(books) imported books", connections: 1, stepsMax: 1
        ) { attacker, _ in
            .send(attacker.upload(file, importLibrary))
        }
    }

    /// Each root field with its most expensive arguments.
    ///
    /// - Parameter count: how many root fields one attack calls in turn.
    static func generated(fields count: Int) throws -> [Attack] {
        let schema = try BookplateSchema(sdl: BookplateSchema.text).schema
        var fields: [[ExpensiveOperation]] = []
        for operation in ExpensiveOperation.all(in: schema) {
            if fields.last?.last?.field == operation.field {
                fields[fields.count - 1].append(operation)
            } else {
                fields.append([operation])
            }
        }
        let isFinal = { (field: [ExpensiveOperation]) in
            field.contains { ExpensiveOperation.finalFields.contains($0.field) }
        }
        let others = fields.filter { !isFinal($0) }
        let groups = stride(from: 0, to: others.count, by: count).map {
            Array(others[$0..<min($0 + count, others.count)])
        }
        return (groups + fields.filter(isFinal).map { [$0] }).map { fields in
            // The first operation of each field, then the second one: the units of an account are enough for about six.
            let operations = (0..<(fields.map(\.count).max() ?? 0)).flatMap { index in
                fields.compactMap { index < $0.count ? $0[index] : nil }
            }
            let names = fields.compactMap(\.first?.field)
            let rest = names.count > 1 ? " to \(names.last ?? "")" : ""
            return Attack(
                name: (names.first ?? "") + rest, prepared: max(operations.count, 4)
            ) { attacker, number in
                .send(operations[number % operations.count].request(attacker, number))
            }
        }
    }

    private static let importLibrary =
        "mutation($file: Upload!) { importLibrary(input: {file: $file}) { id } }"
    private static let updateBook = """
        mutation($id: ID!, $status: ReadingStatus) { updateBook(id: $id, input: {status: $status}) { id } }
        """
    /// The first bytes of a PNG file, and zeros.
    private static let picture =
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + [UInt8](repeating: 0, count: 24 << 20)

    /// Returns an archive of 96 KB with 99 MB of empty records.
    private static func archiveBomb() throws -> [UInt8] {
        guard let file = tmpfile() else {
            throw Program.Failure(description: "tmpfile: errno \(errno)")
        }
        defer { fclose(file) }
        let writer = try ZipWriter(descriptor: fileno(file), time: 0)
        let chunk = [UInt8](repeatElement(Array("{},".utf8), count: 330_000).joined())
        try writer.begin("library.json")
        try writer.write(Array("[".utf8))
        for _ in 0..<100 { try writer.write(chunk) }
        try writer.write(Array("{}]".utf8))
        try writer.finish()
        var bytes = [UInt8](repeating: 0, count: lseek(fileno(file), 0, SEEK_END))
        guard pread(fileno(file), &bytes, bytes.count, 0) == bytes.count else {
            throw Program.Failure(description: "pread: errno \(errno)")
        }
        return bytes
    }
}

extension NeighbourAccount {
    func bookID(_ number: Int) -> String {
        let books = ids["Book"] ?? []
        return books.isEmpty ? user : books[number % books.count]
    }

    func book(_ number: Int) -> Value { .string(bookID(number)) }
}
