import FoundationEssentials
import Glibc
import GraphQL
import TestSupport
import Testing

/// Executes the requests in `Tests/Requests`, and compares each response and its SQL with the files next to the request.
///
/// `BOOKPLATE_UPDATE_SNAPSHOTS=1` writes the files instead.
@Suite struct RequestSnapshotTests {
    static let root = TestCluster.project + "/Tests/Requests"
    static let names =
        ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []).sorted()
    static let updatesFiles = getenv("BOOKPLATE_UPDATE_SNAPSHOTS") != nil

    private static let app = Shared {
        try await TestApp.start(catalog: TestCatalog.lines(12) + SnapshotReader.catalog)
    }

    @Test(arguments: names)
    func requestHasTheExpectedResponseAndStatements(name: String) async throws {
        let request = try #require(Self.file(name, "request.graphql"), "\(name) has no request")
        let reader = try await SnapshotReader.make(in: try await Self.app())
        let response = try await reader.execute(
            request, variables: Self.file(name, "variables.json") ?? "{}")
        let roundTrips = try #require(
            response.json["extensions", "explain", "roundTrips"]?.list, "\(response.json)")
        var placeholders = Placeholders(names: reader.names)
        let body = response.json["errors"].map { [Value.Member("errors", $0)] } ?? []
        try Self.check(
            name, "response.json",
            prettyJSON(
                placeholders.replacing(
                    .object([.init("data", response.json["data"] ?? .null)] + body))) + "\n")
        try Self.check(name, "statements.sql", Self.statements(of: roundTrips))
    }

    private static func statements(of roundTrips: [Value]) -> String {
        roundTrips.enumerated().map { index, roundTrip in
            let statements = roundTrip["statements"]?.list ?? []
            return "-- round trip \(index + 1)\n"
                + statements.map { formatSQL($0.string ?? "") + ";\n" }.joined(separator: "\n")
        }.joined(separator: "\n")
    }

    // MARK: Files

    /// Returns the text of a file of a request; nil if the file does not exist.
    private static func file(_ name: String, _ file: String) -> String? {
        try? String(contentsOfFile: "\(root)/\(name)/\(file)", encoding: .utf8)
    }

    /// Compares a file with its new text, or writes the text.
    private static func check(_ name: String, _ file: String, _ text: String) throws {
        if updatesFiles {
            try text.write(toFile: "\(root)/\(name)/\(file)", atomically: false, encoding: .utf8)
            return
        }
        let expected = Self.file(name, file) ?? ""
        guard text != expected else { return }
        Issue.record(
            """
            Tests/Requests/\(name)/\(file) differs. If the change is intended, write the new text with \
            BOOKPLATE_UPDATE_SNAPSHOTS=1 scripts/test --filter RequestSnapshotTests
            \(lineDifferences(from: expected, to: text))
            """)
    }

    @Test(arguments: names) func folderIsComplete(name: String) throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: "\(Self.root)/\(name)")
        #expect(
            Set(files).subtracting(["variables.json"])
                == ["request.graphql", "response.json", "statements.sql"])
    }

    // MARK: Documentation

    /// Subscriptions have no single response. Uploads and downloads of images have tests of their own.
    private static func hasSnapshot(_ document: Document) -> Bool {
        let text = print(document)
        return !text.hasPrefix("subscription") && !text.contains("image: $image")
            && !text.contains("url: $url")
    }

    @Test(
        arguments: DocumentationBlock.all.filter { block in
            block.words == ["graphql"]
        })
    func documentedRequestHasASnapshot(block: DocumentationBlock) throws {
        let document = try parse(Source(block.text))
        guard Self.hasSnapshot(document) else { return }
        let snapshots = try Self.names.compactMap { name in
            try Self.file(name, "request.graphql").map { print(try parse(Source($0))) }
        }
        #expect(
            snapshots.contains(print(document)),
            "\(block): copy this request to a new folder of Tests/Requests")
    }
}

/// A signed-in user with a small library. All users of the suite have the same one.
private struct SnapshotReader {
    /// The books that the requests of the documentation search for.
    static let catalog = [
        #"{"isbn13": "9780140328721", "title": "Fantastic Mr. Fox", "authors": ["Roald Dahl"], "genres": ["Children"]}"#,
        #"{"isbn13": "9780261103344", "title": "The Hobbit", "authors": ["J. R. R. Tolkien"], "genres": ["Fantasy"]}"#,
    ]

    let reader: TestReader
    /// The values of the placeholders in the variables of a request.
    private let values: [String: String]

    /// The placeholders of ids.
    var names: [String: String] {
        Dictionary(uniqueKeysWithValues: values.map { ($0.value, "<\($0.key)>") })
    }

    static func make(in app: TestApp) async throws -> SnapshotReader {
        let reader = try await app.makeReader()
        _ = try await reader.requireValue(
            #"mutation { updateProfile(input: {displayName: "Ada"}) { id } }"#, .null,
            "updateProfile", "id")
        let shelf = try await reader.makeShelf("Everything")
        let other = try await reader.makeShelf("Favorites")
        let book = try await reader.makeBook([
            "title": "Dune", "author": "Frank Herbert", "shelfIds": .list([shelf]),
        ])
        _ = try await reader.makeBook([
            "title": "La sombra del viento", "author": "Carlos Ruiz Zafón", "status": "READING",
            "shelfIds": .list([other]),
        ])
        let card = try await reader.requireValue(
            "query($isbn: String!) { lookupISBN(isbn: $isbn) { id } }",
            ["isbn": .string(TestCatalog.isbn(5))], "lookupISBN", "id")
        let owned = try await reader.requireValue(
            "query($isbn: String!) { lookupISBN(isbn: $isbn) { id } }",
            ["isbn": .string(TestCatalog.isbn(1))], "lookupISBN", "id")
        let finished = try await reader.makeBook([
            "cardId": owned, "status": "READ", "shelfIds": .list([shelf, other]),
        ])
        try await reader.review(finished, rating: 5, text: "All of it, twice.")
        let kindred = try await reader.makeBook([
            "title": "Kindred", "author": "Octavia E. Butler", "status": "READ",
            "shelfIds": .list([shelf]),
        ])
        try await reader.review(kindred)
        let libraryImport = try await app.execute(
            "mutation($file: Upload!) { importLibrary(file: $file) { id } }",
            ["file": UploadReference.value(0)], token: reader.token,
            uploads: [Array("Title,Author,My Rating\nEmma,Jane Austen,4\n".utf8)])
        // The feed reads the genres of the catalog once, for all users.
        _ = try await reader.feedCards(1)
        let values = [
            "user": reader.id, "shelf": shelf, "other": other, "book": book, "finished": finished,
            "card": card, "import": libraryImport["importLibrary", "id"] ?? .null,
        ].compactMapValues(\.string)
        return SnapshotReader(
            reader: reader,
            values: values.merging([
                "newBook": "\(UUID())".lowercased(), "newShelf": "\(UUID())".lowercased(),
                "refreshToken": reader.refreshToken,
                "identityToken": app.identityToken(subject: reader.subject + ".again"),
            ]) { first, _ in first })
    }

    /// Executes a request with the explanation of its database work. A request for a session is anonymous.
    ///
    /// - Parameter variables: JSON in which placeholders such as `{book}` stand for the values of this user.
    func execute(_ request: String, variables: String) async throws -> TestResponse {
        let isAnonymous = variables.contains("Token}")
        var variables = variables
        for (name, value) in values { variables = variables.replacing("{\(name)}", with: value) }
        return try await reader.app.execute(
            request, try parseJSON(Array(variables.utf8)), token: isAnonymous ? nil : reader.token,
            extensions: ["explain": true])
    }
}

/// Replaces the values of a response that differ in each run.
private struct Placeholders {
    /// The placeholders of known ids.
    let names: [String: String]
    private var ids: [String: Int] = [:]

    init(names: [String: String]) { self.names = names }

    /// - Parameter name: the name of the object member that has the value.
    mutating func replacing(_ value: Value, of name: String = "") -> Value {
        switch value {
        case .object(let members):
            return .object(
                members.map { .init($0.name, replacing($0.value, of: $0.name)) })
        case .list(let items):
            return .list(items.map { replacing($0) })
        case .int where name == "year":
            return "<year>"
        case .string(let text):
            switch name {
            case "cursor", "startCursor", "endCursor": return "<cursor>"
            case "accessToken", "refreshToken": return "<token>"
            default: return .string(replacing(text))
            }
        default: return value
        }
    }

    private mutating func replacing(_ text: String) -> String {
        let uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/
        let time = /[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z/
        return text.replacing(time, with: "<time>").replacing(uuid) { match in
            let id = String(match.0)
            if let name = names[id] { return name }
            let number = ids[id] ?? ids.count + 1
            ids[id] = number
            return "<id \(number)>"
        }
    }
}

/// Returns JSON with one member or item per line. Objects and lists that are empty stay on one line.
private func prettyJSON(_ value: Value, indent: String = "") -> String {
    func block(_ open: String, _ items: [String], _ close: String) -> String {
        guard !items.isEmpty else { return open + close }
        return "\(open)\n"
            + items.map { "\(indent)  \($0)" }.joined(separator: ",\n") + "\n\(indent)\(close)"
    }
    switch value {
    case .object(let members):
        return block(
            "{",
            members.map { "\"\($0.name)\": \(prettyJSON($0.value, indent: indent + "  "))" }, "}")
    case .list(let items):
        return block("[", items.map { prettyJSON($0, indent: indent + "  ") }, "]")
    default:
        var writer = ResponseWriter()
        writer.write(value)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

/// Returns the removed and added lines, each with up to two unchanged lines before and after it.
private func lineDifferences(from old: String, to new: String) -> String {
    let oldLines = old.split(separator: "\n", omittingEmptySubsequences: false)
    let newLines = new.split(separator: "\n", omittingEmptySubsequences: false)
    let difference = newLines.difference(from: oldLines)
    var removed: Set<Int> = []
    var inserted: Set<Int> = []
    for change in difference {
        switch change {
        case .remove(let offset, _, _): removed.insert(offset)
        case .insert(let offset, _, _): inserted.insert(offset)
        }
    }
    var lines: [String] = []
    var (oldIndex, newIndex) = (0, 0)
    while oldIndex < oldLines.count || newIndex < newLines.count {
        if removed.contains(oldIndex) {
            lines.append("- \(oldLines[oldIndex])")
            oldIndex += 1
        } else if inserted.contains(newIndex) {
            lines.append("+ \(newLines[newIndex])")
            newIndex += 1
        } else {
            lines.append("  \(newLines[newIndex])")
            oldIndex += 1
            newIndex += 1
        }
    }
    return lines.indices.filter { index in
        lines[max(0, index - 2)...min(lines.count - 1, index + 2)].contains { !$0.hasPrefix("  ") }
    }.map { lines[$0] }.joined(separator: "\n")
}
