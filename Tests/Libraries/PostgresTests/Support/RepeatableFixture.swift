@testable import Postgres

/// A database and a folder with two versioned and two repeatable files.
///
/// `books` defines a function that uses the column `title`. `audit` inserts a row into `runs` whenever it is applied.
struct RepeatableFixture {
    let database: TestDatabase
    let folder: MigrationFolder

    static let books = """
        CREATE OR REPLACE FUNCTION title_of(book int) RETURNS text
        LANGUAGE sql
        AS $$
            SELECT title FROM books WHERE id = book
        $$;
        """
    /// `books` with a function that uses another column.
    static let changedBooks = books.replacing("title FROM", with: "secret FROM")
    static let audit = "-- requires: books\nINSERT INTO runs VALUES ('audit');"
    /// The number of times that `audit` was applied.
    static let runs = "SELECT count(*) FROM runs"

    init() throws {
        database = try TestDatabase()
        folder = try MigrationFolder()
        try folder.write(
            "20260101000000_create_books", "CREATE TABLE books (id int, title text, secret text);")
        try folder.write("20260102000000_create_runs", "CREATE TABLE runs (file text);")
        try folder.writeFunctions("books", Self.books)
        try folder.writeFunctions("audit", Self.audit)
    }

    func migrator() throws -> Migrator {
        var migrator = try Migrator(try database.admin(), folder: folder.path)
        migrator.migrationLockTimeout = .milliseconds(300)
        return migrator
    }

    /// Returns the value of a subquery as text.
    func text(_ sql: String) throws -> String {
        try database.admin().query("SELECT (\(sql))::text").text(0, 0) ?? "null"
    }

    /// Returns the names and states of the repeatable files.
    func states() throws -> [String] {
        try migrator().status().repeatable.entries.map { "\($0.name) \($0.state)" }
    }
}
