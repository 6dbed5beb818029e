import Foundation
import GRDB

/// The library of one reader on this device.
///
/// The tables of the objects have the state that the app shows: the last known state of the server, and the effects of all queued
/// writes. `server_state` has the state of the server for those objects that queued writes have changed. See `LibraryState`.
enum LibraryDatabase {
    static let fileName = "library.sqlite"

    /// Opens the database in a folder. A damaged database is replaced, and the queued writes are moved into the new one.
    ///
    /// - Parameter time: the time of the report about writes that could not be moved.
    static func open(in folder: URL, at time: Timestamp) throws -> any DatabaseWriter {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent(fileName)
        let rescue = DatabaseRescue(file: file, time: time)
        try rescue.finish()
        do {
            let pool = try open(file)
            guard FileManager.default.fileExists(atPath: mark(in: folder)) else { return pool }
            try check(pool)
            try FileManager.default.removeItem(atPath: mark(in: folder))
            return pool
        } catch let error as DatabaseError where error.isDamage {
            try rescue.run()
            return try open(file)
        }
    }

    private static func open(_ file: URL) throws -> any DatabaseWriter {
        let pool = try DatabasePool(path: file.path)
        try pool.writeWithoutTransaction { db in
            // A queued write survives a loss of power, not only the end of the app. On Apple's systems, only a full synchronization
            // reaches the storage.
            try db.execute(sql: "PRAGMA synchronous = FULL; PRAGMA fullfsync = ON")
        }
        try migrate(pool)
        return pool
    }

    /// Marks the database as damaged. The next `open` checks it, which takes too long for each launch.
    static func markAsDamaged(in folder: URL) {
        _ = FileManager.default.createFile(atPath: mark(in: folder), contents: nil)
    }

    private static func mark(in folder: URL) -> String {
        folder.appendingPathComponent("damaged").path
    }

    private static func check(_ pool: any DatabaseWriter) throws {
        try pool.read { db in
            guard try String.fetchOne(db, sql: "PRAGMA quick_check(1)") == "ok" else {
                throw DatabaseError(resultCode: .SQLITE_CORRUPT)
            }
        }
    }

    static func migrate(_ writer: any DatabaseWriter) throws {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { db in
            try db.execute(sql: objectTables)
            try db.execute(sql: shelfIndex)
            try db.execute(sql: queueTables)
            try db.execute(sql: feedTables)
            try db.create(virtualTable: "book_search", using: FTS5()) { t in
                t.content = "book"
                t.tokenizer = .unicode61(diacritics: .remove)
                t.prefixes = [2, 3]
                t.column("title")
                t.column("subtitle")
                t.column("author")
                t.column("isbn13")
            }
            try db.execute(sql: searchTriggers)
        }
        try migrator.migrate(writer)
    }

    /// The columns have the names of the schema's fields. Lists and objects are stored as JSON.
    private static let objectTables = """
        CREATE TABLE shelf (
            id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL, position INTEGER NOT NULL, description TEXT, color TEXT,
            createdAt TEXT NOT NULL, updatedAt TEXT NOT NULL
        );
        CREATE TABLE book (
            id TEXT PRIMARY KEY NOT NULL, title TEXT NOT NULL, subtitle TEXT, author TEXT, authors TEXT NOT NULL,
            isbn13 TEXT, publisher TEXT, publishedDate TEXT, pageCount INTEGER, language TEXT, category TEXT,
            genre TEXT, description TEXT, binding TEXT, moods TEXT NOT NULL, privateNotes TEXT,
            status TEXT NOT NULL, currentPage INTEGER, series TEXT NOT NULL, shelves TEXT NOT NULL, review TEXT,
            image TEXT, addedAt TEXT NOT NULL, updatedAt TEXT NOT NULL
        );
        CREATE INDEX book_added ON book (addedAt, id);
        CREATE INDEX book_status_added ON book (status, addedAt, id);
        CREATE INDEX book_title ON book (title COLLATE NOCASE, id);
        CREATE INDEX book_isbn ON book (isbn13);
        CREATE INDEX book_author ON book (author COLLATE NOCASE, title COLLATE NOCASE, id);
        CREATE TABLE read (
            id TEXT PRIMARY KEY NOT NULL, book TEXT NOT NULL, startedOn TEXT, finishedOn TEXT,
            outcome TEXT NOT NULL, format TEXT, lengthSeconds INTEGER, note TEXT,
            createdAt TEXT NOT NULL, updatedAt TEXT NOT NULL,
            bookID TEXT GENERATED ALWAYS AS (json_extract(book, '$.id')) VIRTUAL,
            sortedOn TEXT GENERATED ALWAYS AS (
                CASE WHEN outcome = 'READING' THEN '~' ELSE coalesce(finishedOn, startedOn, '') END
            ) VIRTUAL
        );
        CREATE INDEX read_book ON read (bookID, sortedOn, createdAt, id);
        CREATE TABLE progress (
            id TEXT PRIMARY KEY NOT NULL, read TEXT NOT NULL, at TEXT NOT NULL, page INTEGER, percent REAL,
            seconds INTEGER, given TEXT NOT NULL, note TEXT, createdAt TEXT NOT NULL, updatedAt TEXT NOT NULL,
            readID TEXT GENERATED ALWAYS AS (json_extract(read, '$.id')) VIRTUAL
        );
        CREATE INDEX progress_read ON progress (readID, at, id);
        CREATE TABLE note (
            id TEXT PRIMARY KEY NOT NULL, book TEXT NOT NULL, text TEXT, comment TEXT, chapter TEXT, color TEXT,
            page INTEGER, percent REAL, seconds INTEGER, positionKind TEXT,
            createdAt TEXT NOT NULL, updatedAt TEXT NOT NULL,
            bookID TEXT GENERATED ALWAYS AS (json_extract(book, '$.id')) VIRTUAL
        );
        CREATE INDEX note_book ON note (bookID, createdAt);
        CREATE TABLE goal (
            id TEXT PRIMARY KEY NOT NULL, year INTEGER NOT NULL, unit TEXT NOT NULL, target INTEGER NOT NULL,
            createdAt TEXT NOT NULL, updatedAt TEXT NOT NULL
        );
        """

    /// The books of each shelf. Triggers keep it in step with `book.shelves`.
    private static let shelfIndex = """
        CREATE TABLE book_shelf (
            shelf TEXT NOT NULL, book TEXT NOT NULL, PRIMARY KEY (shelf, book)
        ) WITHOUT ROWID;
        CREATE INDEX book_shelf_book ON book_shelf (book);
        CREATE TRIGGER book_inserted AFTER INSERT ON book BEGIN
            INSERT INTO book_shelf (shelf, book)
            SELECT DISTINCT json_extract(value, '$.id'), new.id FROM json_each(new.shelves);
        END;
        CREATE TRIGGER book_shelves_updated AFTER UPDATE OF shelves ON book WHEN old.shelves <> new.shelves BEGIN
            DELETE FROM book_shelf WHERE book = new.id;
            INSERT INTO book_shelf (shelf, book)
            SELECT DISTINCT json_extract(value, '$.id'), new.id FROM json_each(new.shelves);
        END;
        CREATE TRIGGER book_deleted AFTER DELETE ON book BEGIN
            DELETE FROM book_shelf WHERE book = old.id;
        END;
        """

    /// Keep the search in step with the books. GRDB's own triggers replace the words of a book with each change of it, which writes many
    /// pages.
    private static let searchTriggers = """
        CREATE TRIGGER book_search_inserted AFTER INSERT ON book BEGIN
            INSERT INTO book_search (rowid, title, subtitle, author, isbn13)
            VALUES (new.rowid, new.title, new.subtitle, new.author, new.isbn13);
        END;
        CREATE TRIGGER book_search_deleted AFTER DELETE ON book BEGIN
            INSERT INTO book_search (book_search, rowid, title, subtitle, author, isbn13)
            VALUES ('delete', old.rowid, old.title, old.subtitle, old.author, old.isbn13);
        END;
        CREATE TRIGGER book_search_updated AFTER UPDATE OF title, subtitle, author, isbn13 ON book
        WHEN (old.title, old.subtitle, old.author, old.isbn13) IS NOT (new.title, new.subtitle, new.author, new.isbn13)
        BEGIN
            INSERT INTO book_search (book_search, rowid, title, subtitle, author, isbn13)
            VALUES ('delete', old.rowid, old.title, old.subtitle, old.author, old.isbn13);
            INSERT INTO book_search (rowid, title, subtitle, author, isbn13)
            VALUES (new.rowid, new.title, new.subtitle, new.author, new.isbn13);
        END;
        """

    private static let queueTables = """
        CREATE TABLE write (
            seq INTEGER PRIMARY KEY AUTOINCREMENT, operation TEXT NOT NULL, target TEXT NOT NULL,
            input TEXT NOT NULL, changes TEXT NOT NULL, needs TEXT NOT NULL, creates TEXT NOT NULL,
            madeAt TEXT NOT NULL, card TEXT, answered INTEGER NOT NULL
        );
        CREATE TABLE server_state (
            typename TEXT NOT NULL, id TEXT NOT NULL, object TEXT, PRIMARY KEY (typename, id)
        ) WITHOUT ROWID;
        CREATE TABLE seen (
            typename TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (typename, id)
        ) WITHOUT ROWID;
        CREATE TABLE sync_position (
            id INTEGER PRIMARY KEY CHECK (id = 1), cursor TEXT, reset TEXT, isComplete INTEGER NOT NULL,
            followsReset INTEGER NOT NULL, missedReads TEXT NOT NULL
        );
        INSERT INTO sync_position (id, isComplete, followsReset, missedReads) VALUES (1, 0, 0, '[]');
        CREATE TABLE problem (
            id INTEGER PRIMARY KEY AUTOINCREMENT, write INTEGER, operation TEXT NOT NULL, target TEXT NOT NULL,
            message TEXT NOT NULL, code TEXT NOT NULL, reason TEXT, min REAL, max REAL, field TEXT,
            existingID TEXT, undone TEXT NOT NULL, at TEXT NOT NULL
        );
        """

    /// See `Deck`. A card without an action is shown.
    private static let feedTables = """
        CREATE TABLE card (
            id TEXT PRIMARY KEY NOT NULL, work TEXT NOT NULL, author TEXT, series TEXT, position INTEGER NOT NULL,
            card TEXT, action TEXT, scope TEXT, swipedAt TEXT, swipeNumber INTEGER, book TEXT,
            oldBook TEXT
        );
        CREATE INDEX card_position ON card (position) WHERE action IS NULL;
        CREATE INDEX card_swipe ON card (swipeNumber);
        CREATE INDEX card_work ON card (work);
        CREATE TABLE feed_position (
            id INTEGER PRIMARY KEY CHECK (id = 1), genres TEXT NOT NULL, cursor TEXT, startedAt TEXT, endedAt TEXT,
            sentSwipes INTEGER NOT NULL
        );
        """
}

extension DatabaseError {
    /// Whether the file is not a complete database.
    var isDamage: Bool { [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(resultCode) }
}
