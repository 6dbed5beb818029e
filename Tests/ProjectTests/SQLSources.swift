/// The SQL of the product: the statements in Swift, and the functions and triggers in `migrations/functions`.
enum SQLSources {
    struct Statement {
        let file: String
        /// The name of the declaration or function that contains the statement.
        let name: String
        let sql: String

        var place: String { "\(file) \(name)" }
    }

    struct Function {
        let file: String
        let name: String
        /// The text between the name and the body.
        let header: String
        /// The body without comments.
        let body: String
        /// The reason for the rights of the owner, in the line above the function; nil if there is none.
        let reason: String?

        var isDefiner: Bool { header.contains("SECURITY DEFINER") }
        /// The names of everything that is called.
        var calls: Set<String> { SQLSources.calls(in: body) }
    }

    static func calls(in sql: String) -> Set<String> {
        Set(sql.matches(of: /\b([a-z_]+)\(/).map { String($0.1) })
    }

    /// The tables with a column `user_id`, except those of background work, and views of such tables.
    static func tables() throws -> [String] { try readTables.get() }
    private static let readTables = Result { () throws -> [String] in
        let schema = try Project.text("migrations/schema.sql")
        let tables = schema.matches(of: /CREATE TABLE public\.(\w+) \(\n((?s).*?)\n\)/)
            .filter { $0.2.contains("\n    user_id uuid") || $0.2.hasPrefix("    user_id uuid") }
        let views = schema.matches(of: /CREATE VIEW public\.(\w+) ((?s).*?);\n/)
            .filter { $0.2.contains("user_id") }
        return (tables.map { String($0.1) } + views.map { String($0.1) })
            .filter { !["jobs", "oauth_requests"].contains($0) }
    }

    private static func functionFiles() throws -> [(name: String, text: String)] {
        try Project.files(["migrations/functions"], [".sql"]).map { path in
            (String(path.split(separator: "/").last ?? ""), try Project.text(path))
        }
    }

    static func functions() throws -> [Function] { try readFunctions.get() }
    private static let readFunctions = Result { () throws -> [Function] in
        try functionFiles().flatMap { file, text in
            let parts = text.split(
                separator: "CREATE OR REPLACE FUNCTION ", omittingEmptySubsequences: false)
            return zip(parts, parts.dropFirst()).compactMap { before, part -> Function? in
                let name = part.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
                let pieces = part.dropFirst(name.count)
                    .split(separator: "$$", maxSplits: 2, omittingEmptySubsequences: false)
                guard pieces.count > 1 else { return nil }
                let line = before.split(separator: "\n").last ?? ""
                return Function(
                    file: file, name: String(name), header: String(pieces[0]),
                    body: String(pieces[1]).replacing(/--.*/, with: ""),
                    reason: line.firstMatch(of: /^-- definer: (.+)$/).map { String($0.1) })
            }
        }
    }

    /// The triggers with transition tables: "name ON table".
    static func transitionTableTriggers() throws -> Set<String> {
        var found: Set<String> = []
        for (_, text) in try functionFiles() {
            for part in text.split(separator: "CREATE OR REPLACE TRIGGER ").dropFirst() {
                let trigger = part.prefix { $0 != ";" }
                guard trigger.contains("REFERENCING"),
                    let table = trigger.firstMatch(of: /\bON (\w+)/)
                else { continue }
                found.insert("\(trigger.prefix { $0 != "\n" }) ON \(table.1)")
            }
        }
        return found
    }

    /// The texts in the Swift files that can contain SQL, including parts of statements.
    static func statements() throws -> [Statement] { try readStatements.get() }
    private static let readStatements = Result { () throws -> [Statement] in
        let folders = [
            "Sources/Product/Requests", "Sources/Product/Bookplate", "Sources/Product/Operations",
            "Sources/Libraries/JobQueue", "Sources/Engine/GraphQLPostgres",
        ]
        let keywords = [
            "FROM", "JOIN", "SELECT", "UPDATE", "INSERT", "DELETE", "OFFSET", "USING", "(",
        ]
        return try Project.files(folders, [".swift"]).flatMap { path in
            let file = String(path.split(separator: "/").last ?? "")
            let text = try Project.text(path)
            let declarations = text.matches(of: /\b(?:let|var|func) (\w+)/)
            var (index, name) = (0, "")
            let texts = text.matches(of: /"""\n((?s).*?)"""|"((?:[^"\\\n]|\\.)*)"/)
            return texts.compactMap { match -> Statement? in
                while index < declarations.count,
                    declarations[index].range.lowerBound < match.range.lowerBound
                {
                    name = String(declarations[index].1)
                    index += 1
                }
                let sql = String(match.1 ?? match.2 ?? "")
                return keywords.contains { sql.contains($0) }
                    ? Statement(file: file, name: name, sql: sql) : nil
            }
        }
    }
}
