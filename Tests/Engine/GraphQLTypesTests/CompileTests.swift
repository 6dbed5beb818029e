import Foundation
import GraphQLTypeGeneration
import Testing

/// Programs with generated types, as the compiler sees them: a resolver that is missing, or that would be called once for each
/// object, does not compile.
@Suite struct CompileTests {
    private static let sdl = """
        type Query { books: [Book!]! }
        type Book { title: String! author: Author }
        type Author { name: String! }
        """

    private static func program(_ author: String) -> String {
        """
        import GraphQL

        typealias Context = NoContext
        struct Query: QueryFields {
            func books(_ request: FieldRequest<Context>) async throws -> [Book] { [Book(title: "Emma")] }
        }
        struct Author: AuthorFields { var name: String }
        struct Book: BookFields {
            var title: String
            \(author)
        }
        """
    }

    /// Compiles a program with the code that is generated for the schema.
    ///
    /// - Returns: the messages of the compiler; empty if there are none.
    private func compile(_ program: String) throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "graphql-types-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let code = try generateTypes(
            SchemaFiles([.init(path: "schema.graphql", bytes: Array(Self.sdl.utf8))]))
        var files: [String] = []
        for (name, text) in [("GraphQLTypes.swift", code), ("Program.swift", program)] {
            let file = folder.appending(path: name)
            try Data(text.utf8).write(to: file)
            files.append(file.path)
        }
        let output = folder.appending(path: "output")
        try Data().write(to: output)
        // The modules are in the folder of these tests' program.
        let modules = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().appending(path: "Modules")
        let compiler = Process()
        compiler.executableURL = URL(filePath: "/usr/bin/env")
        compiler.arguments =
            ["swiftc", "-typecheck", "-swift-version", "6", "-I", modules.path] + files
        compiler.standardError = try FileHandle(forWritingTo: output)
        try compiler.run()
        compiler.waitUntilExit()
        return String(decoding: try Data(contentsOf: output), as: UTF8.self)
    }

    @Test func resolverOfALevelCompiles() throws {
        let messages = try compile(
            Self.program(
                """
                static func author(of books: [Book], _ request: FieldRequest<Context>) -> [Author?] {
                    books.map { _ in Author(name: "Jane Austen") }
                }
                """))
        #expect(messages == "")
    }

    @Test(arguments: [
        // One call for each book.
        """
        static func author(of book: Book, _ request: FieldRequest<Context>) -> Author? {
            Author(name: "Jane Austen")
        }
        """,
        "var author: Author?",
        // No resolver.
        "",
    ])
    func otherResolversDoNotCompile(resolver: String) throws {
        let messages = try compile(Self.program(resolver))
        #expect(
            messages.contains("error: type 'Book' does not conform to protocol 'BookFields'"),
            "\(messages)")
    }
}
