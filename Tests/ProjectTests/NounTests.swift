import Testing

/// The folders of the module `Bookplate` are its nouns. The compiler does not check which of them know each other.
@Suite struct NounTests {
    /// The folders in their order. A folder refers only to folders of its own line and of the lines above it.
    static let order = [
        // These refer to each other as their tables do.
        ["Accounts", "Authors", "Catalog", "Covers", "Feed", "Library"],
        ["Audit"],
        ["EReaders"],
        ["Live"],
        ["OAuth"],
        ["Sharing"],
        ["Webhooks"],
        // The composition root: the table of resolvers, the jobs, and the services.
        ["App"],
        ["Tools"],
    ]

    /// A file that refers to a folder below its own.
    struct Exception: CustomTestStringConvertible, Sendable {
        let file: String
        let folder: String
        let reason: String
        var testDescription: String { "\(file): \(folder)" }
    }

    static let exceptions = [
        Exception(
            file: "Accounts/User.swift", folder: "EReaders",
            reason: "The type User of the schema has fields of all folders."),
        Exception(
            file: "Accounts/User.swift", folder: "OAuth",
            reason: "The type User of the schema has fields of all folders."),
        Exception(
            file: "Accounts/User.swift", folder: "Sharing",
            reason: "The type User of the schema has fields of all folders."),
        Exception(
            file: "Accounts/Sessions/SessionMutations.swift", folder: "OAuth",
            reason: "Signing out everywhere also ends the access of apps."),
        Exception(
            file: "Accounts/Apple/AppleNotifications.swift", folder: "OAuth",
            reason:
                "A reader who revokes the consent at Apple is signed out everywhere."),
        Exception(
            file: "Library/Import/ImportedPosition.swift", folder: "EReaders",
            reason: "An import accepts the same positions as the protocols of e-readers."),
    ]

    /// The types that every folder may use: the services that `App` composes are part of each request.
    private static let known: Set = ["Services"]

    private static let root = "Sources/Product/Bookplate/"

    /// The code of a file without comments and the contents of string literals.
    private static func code(_ path: String) throws -> String {
        try Project.text(path)
            .replacing(/"""(?s).*?"""/, with: "\"\"")
            .replacing(/"(?:[^"\\\n]|\\.)*"/, with: "\"\"")
            .replacing(/\/\/[^\n]*/, with: "")
    }

    private static func folder(_ path: String) -> String {
        String(path.dropFirst(root.count).prefix { $0 != "/" })
    }

    private static func index(of folder: String) -> Int? {
        order.firstIndex { $0.contains(folder) }
    }

    private static let readFiles = Result {
        try Project.files([String(root.dropLast())], [".swift"]).map { path in
            (path: path, code: try code(path))
        }
    }

    /// The folders of the top-level types, by name.
    private static func folders() throws -> [String: String] {
        var folders: [String: String] = [:]
        for (path, code) in try readFiles.get() {
            let declarations = code.matches(
                of:
                    /(?m)^(?:@\w+ |package |final |indirect )*(?:struct|enum|class|actor|protocol|typealias) (\w+)/
            )
            for declaration in declarations { folders[String(declaration.1)] = folder(path) }
        }
        return folders
    }

    @Test func theOrderNamesEveryFolder() throws {
        let folders = Set(try Self.readFiles.get().map { Self.folder($0.path) })
        #expect(folders == Set(Self.order.joined()))
    }

    /// A folder refers to no folder below it, except in the files above, each of which still needs its exception.
    @Test func foldersReferToNoFolderBelow() throws {
        let folders = try Self.folders()
        #expect(folders["Book"] == "Library")
        var found: Set<String> = []
        for (path, code) in try Self.readFiles.get() {
            guard let own = Self.index(of: Self.folder(path)) else { continue }
            for match in code.matches(of: /(?:^|[^.\w])([A-Z]\w*)/) {
                let name = String(match.1)
                guard !Self.known.contains(name), let folder = folders[name],
                    let index = Self.index(of: folder), index > own
                else { continue }
                let file = String(path.dropFirst(Self.root.count))
                found.insert("\(file): \(folder)")
                #expect(
                    Self.exceptions.contains { $0.file == file && $0.folder == folder },
                    "\(file) refers to \(name) of the folder \(folder)")
            }
        }
        for exception in Self.exceptions {
            #expect(found.contains(exception.testDescription), "remove the exception")
        }
    }
}
