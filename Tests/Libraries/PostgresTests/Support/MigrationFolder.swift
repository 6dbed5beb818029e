import Glibc
import Testing

@testable import Postgres

/// A temporary folder of migrations for one test.
final class MigrationFolder: Sendable {
    let path: String
    private var functions: String { path + "/functions" }

    init() throws {
        path = "/tmp/migrations-\(getpid())-\(UUID.version7())"
        try #require(mkdir(path, 0o700) == 0)
    }

    deinit {
        for folder in [functions, path] {
            for name in (try? namesOfSQLFiles(in: folder)) ?? [] { unlink("\(folder)/\(name)") }
            rmdir(folder)
        }
    }

    /// Writes a versioned file.
    func write(_ name: String, _ sql: String) throws {
        try write("-- Why: a test.\n" + sql, to: "\(path)/\(name).sql")
    }

    /// Writes a repeatable file.
    func writeFunctions(_ name: String, _ sql: String) throws {
        mkdir(functions, 0o700)
        try write(sql, to: "\(functions)/\(name).sql")
    }

    /// Writes a file with any name that ends in `.sql`.
    func writeOther(_ fileName: String, _ text: String) throws {
        try write(text, to: "\(path)/\(fileName)")
    }

    func remove(_ name: String) throws {
        try #require(unlink("\(path)/\(name).sql") == 0)
    }

    func removeFunctions(_ name: String) throws {
        try #require(unlink("\(functions)/\(name).sql") == 0)
    }

    private func write(_ text: String, to path: String) throws {
        let file = try #require(fopen(path, "w"))
        fputs(text, file)
        fclose(file)
    }
}
