import Testing

@testable import Postgres

@Suite struct NewMigrationTests {
    private let folder: MigrationFolder

    init() throws {
        folder = try MigrationFolder()
    }

    @Test func theVersionIsTheCurrentTime() throws {
        try folder.write("20260101000000_earlier", "SELECT 1;")
        let before = MigrationFile.now()
        let file = try MigrationFile.next(
            "add cover-Digest", reason: "covers are compared", in: folder.path)
        #expect((before...MigrationFile.now()).contains(file.version))
        #expect(file.name == "add_cover_digest" && file.reason == "covers are compared")
        #expect(try file.write(in: folder.path) == "\(folder.path)/\(file.fileName)")
        #expect(throws: MigrationError.self) { try file.write(in: folder.path) }
        #expect(try MigrationFiles(folder: folder.path).versioned.last == file)
        // A second file in the same second waits for the next one.
        let next = try MigrationFile.next("next", reason: "x", in: folder.path)
        #expect(next.version > file.version && next.version <= MigrationFile.now())
    }

    @Test func refusesAFolderWithALaterMigration() throws {
        try folder.write("29990101000000_far_ahead", "SELECT 1;")
        #expect(throws: MigrationError.datedInTheFuture("29990101000000_far_ahead.sql")) {
            try MigrationFile.next("late", reason: "x", in: folder.path)
        }
    }

    @Test func refusesNamesOfOtherFolders() {
        #expect(throws: MigrationError.self) {
            try MigrationFile.next("a/../b", reason: "x", in: folder.path)
        }
        #expect(throws: MigrationError.badRepeatableName("functions/a/../b.sql")) {
            try RepeatableFile.next("a/../b")
        }
    }

    @Test func createsARepeatableFileAndItsFolder() throws {
        let file = try RepeatableFile.next("Cover events")
        #expect(try file.write(in: folder.path) == "\(folder.path)/functions/cover_events.sql")
        #expect(try MigrationFiles(folder: folder.path).repeatable == [file])
        #expect(throws: MigrationError.self) { try file.write(in: folder.path) }
    }

    @Test func theDumpOfTheSchemaIsNotAMigration() throws {
        try folder.writeOther("schema.sql", "CREATE TABLE books (id int);")
        #expect(try MigrationFiles(folder: folder.path).versioned.isEmpty)
        try folder.writeOther("other.sql", "CREATE TABLE books (id int);")
        #expect(throws: MigrationError.badName("other.sql")) {
            try MigrationFiles(folder: folder.path).versioned
        }
    }
}
