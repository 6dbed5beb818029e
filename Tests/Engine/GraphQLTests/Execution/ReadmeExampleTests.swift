import Foundation
import GraphQL
import Testing

/// Compiles and runs the example of `docs/how-to/use-the-graphql-engine.md`, and checks that both are identical.
@Suite struct ReadmeExampleTests {
    @Test(
        arguments: [
            ("{ books(first: 1) { title } }", #"{"data":{"books":[{"title":"Emma"}]}}"#),
            (
                "{ books { name: title } }",
                #"{"data":{"books":[{"name":"Emma"},{"name":"Persuasion"}]}}"#
            ),
            (
                "{",
                #"{"errors":[{"message":"Syntax Error: Expected Name, found <EOF>.","#
                    + #""locations":[{"line":1,"column":2}]}]}"#
            ),
        ])
    func exampleReturnsExpectedResponse(text: String, expected: String) async {
        #expect(String(decoding: await respond(to: text), as: UTF8.self) == expected)
    }

    @Test func exampleMatchesGuide() throws {
        let file = URL(filePath: #filePath)
        let root = (0..<5).reduce(file) { url, _ in url.deletingLastPathComponent() }
        let guide = try String(
            contentsOf: root.appending(path: "docs/how-to/use-the-graphql-engine.md"),
            encoding: .utf8)
        let example = try String(contentsOf: file, encoding: .utf8)
            .components(separatedBy: "\n// The example.\n\n")[1]
        #expect(guide.contains("```swift\n\(example)```"))
    }
}

// The example.

let shelf = ["Emma", "Persuasion"]

/// Provides the resolver of each field.
struct Resolvers: ResolverSource {
    func resolver(for field: FieldDefinition, of type: TypeDefinition) -> FieldResolver? {
        switch (type.name, field.name) {
        case ("Query", "books"): .load(BooksLoader())
        case ("Book", "title"): .property
        default: nil
        }
    }
}

/// Loads the books, once for all objects of a level. Here, that is only the root.
struct BooksLoader: FieldLoader {
    /// Called once when an operation is planned. A database loader would prepare its statement
    /// here.
    func prepare(_ field: SelectedField) -> any PreparedLoad {
        Prepared(selection: field.selections[0])
    }

    struct Prepared: PreparedLoad {
        let selection: PlannedSelection

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues,
            in context: any ExecutionContext
        ) -> Load {
            let titles = Array(shelf.prefix(max(0, arguments["first"]?.int ?? 0)))
            // One slot for each parent, followed by the items of the lists.
            let list = Slot.list(start: 1, count: Int32(titles.count))
            let items = titles.indices.map { Slot.object(group: 0, index: Int32($0)) }
            let books = Books(titles, selection)
            return .ready(Children(slots: [list] + items, groups: [.init(books)]))
        }
    }
}

/// A batch of books for one planned selection, which writes their leaves.
final class Books: ObjectBatch {
    private let titles: [String]
    private let selection: PlannedSelection

    init(_ titles: [String], _ selection: PlannedSelection) {
        self.titles = titles
        self.selection = selection
    }

    var count: Int { titles.count }

    func write(field: Int, of object: Int, to writer: inout ResponseWriter) -> LeafResult {
        switch selection.fields[field].selected.name {
        case "title": writer.write(titles[object])
        default: return .null
        }
        return .value
    }
}

/// The state that the loaders of a request share. These loaders use no database, so there is
/// nothing to flush.
final class Context: ExecutionContext {
    let needsFlush = false
    func flush() async {}
}

func respond(to text: String) async -> [UInt8] {
    do throws(RequestErrors) {
        let schema = try buildSchema(
            Source("type Query { books(first: Int! = 10): [Book!]! } type Book { title: String! }"))
        let cache = DocumentCache(schema: schema, resolvers: Resolvers(), limits: RequestLimits())
        let document = try await cache.document(Array(text.utf8))
        let (plan, variables, _) = try await document.plan(operationName: nil, variables: .null)
        return await execute(plan, variables: variables, context: Context()).body
    } catch {
        return error.body
    }
}
