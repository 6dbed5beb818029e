import Glibc

/// A repeatable migration: a file in `migrations/functions`, named `<noun>.sql`, that is applied again
/// whenever it changes.
///
/// It defines functions, triggers, policies, and grants, and must work on a database that already has them,
/// for example with `CREATE OR REPLACE` or with `DROP … IF EXISTS` before `CREATE`. Its first line can name
/// other files of the folder that must be applied before it: `-- requires: accounts, jobs`.
package struct RepeatableFile: Sendable, Equatable {
    /// The file's name without `.sql`, for example `jobs`.
    package let name: String
    /// The names of the files that must be applied before this one.
    package let requirements: [String]
    package let sql: String

    /// The name of the folder of these files in the folder of the versioned migrations.
    static let folderName = "functions"

    /// Creates a repeatable migration from a file's name and contents.
    ///
    /// - Throws: `.badRepeatableName` or `.badRequirements`.
    package init(name: String, sql: String) throws(MigrationError) {
        guard isMigrationName(name) else {
            throw .badRepeatableName("\(Self.folderName)/\(name).sql")
        }
        self.name = name
        self.sql = sql
        requirements = try Self.requirements(sql, of: name)
    }

    /// The path of the file relative to the folder of the versioned migrations.
    package var fileName: String { Self.fileName(name) }

    static func fileName(_ name: String) -> String { "\(folderName)/\(name).sql" }

    /// Returns the names in the first line of a file if it starts with `-- requires:`.
    private static func requirements(
        _ sql: String, of name: String
    ) throws(MigrationError) -> [String] {
        let keyword = "-- requires:"
        let line = sql.prefix { !$0.isNewline }
        guard line.lowercased().hasPrefix(keyword) else { return [] }
        let names = line.dropFirst(keyword.count)
            .split(separator: ",", omittingEmptySubsequences: false)
            .map { $0.filter { !$0.isWhitespace } }
        guard names.allSatisfy({ isMigrationName($0) }) else {
            throw .badRequirements(fileName(name))
        }
        return names
    }

    /// Returns the files in the order in which they are applied.
    ///
    /// Repeatedly takes the first remaining file, by name, whose requirements have all been taken. If there
    /// is none, every remaining file requires another remaining one, so they contain a cycle.
    static func ordered(_ files: [RepeatableFile]) throws(MigrationError) -> [RepeatableFile] {
        let names = Set(files.map(\.name))
        for file in files {
            if let unknown = file.requirements.first(where: { !names.contains($0) }) {
                throw .unknownRequirement(file.fileName, unknown)
            }
        }
        var remaining = files.sorted { $0.name < $1.name }
        var result: [RepeatableFile] = []
        var taken: Set<String> = []
        while !remaining.isEmpty {
            guard
                let index = remaining.firstIndex(where: {
                    $0.requirements.allSatisfy(taken.contains)
                })
            else { throw .requirementCycle(cycle(in: remaining)) }
            let file = remaining.remove(at: index)
            taken.insert(file.name)
            result.append(file)
        }
        return result
    }

    /// Returns the names of a cycle; its first name is also the last one.
    ///
    /// - Parameter files: Files of which each requires another one of them.
    private static func cycle(in files: [RepeatableFile]) -> [String] {
        let remaining = Dictionary(files.map { ($0.name, $0) }) { first, _ in first }
        var path: [String] = []
        var next = files.first
        while let file = next {
            if let start = path.firstIndex(of: file.name) { return path[start...] + [file.name] }
            path.append(file.name)
            next = file.requirements.lazy.compactMap { remaining[$0] }.first
        }
        return path
    }
}
