import NIOPosix
import Testing

@testable import Postgres

/// Several programs, of the same or of different releases, migrate one database.
@Suite struct MigrationCompatibilityTests {
    private let fixture: RepeatableFixture

    init() throws {
        fixture = try RepeatableFixture()
    }

    @Test func concurrentRunsApplyEachFileOnce() async throws {
        let (path, url) = (fixture.folder.path, fixture.database.url)
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    try await NIOThreadPool.singleton.runIfActive {
                        let applied = try Migrator(try AdminConnection(url), folder: path).up()
                        return applied.migrations.count + applied.functions.count
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(counts.sorted() == [0, 0, 0, 4])
        #expect(try fixture.text(RepeatableFixture.runs) == "1")
    }

    @Test func aRemovedFileIsReportedUntilTheNextRun() throws {
        try fixture.migrator().up()
        try fixture.folder.removeFunctions("audit")
        let problem = MigrationProblem.missingFunctions("audit")
        #expect(try fixture.states() == ["books applied", "audit missing"])
        #expect(try fixture.migrator().verify() == [problem])
        #expect(problem.description.contains("functions/audit.sql"))
        #expect(try fixture.migrator().up().isEmpty)
        #expect(try fixture.states() == ["books applied"])
        #expect(try fixture.migrator().verify().isEmpty)
    }

    /// The folder of an older program must not replace the functions of a newer one.
    @Test(arguments: [false, true])
    func refusesFunctionsOfAnOlderProgram(isRemoved: Bool) throws {
        if isRemoved { try fixture.folder.removeFunctions("audit") }
        try fixture.migrator().up()
        let newer = RepeatableFixture.changedBooks
        try fixture.folder.writeFunctions("audit", RepeatableFixture.audit)
        if !isRemoved { try fixture.folder.writeFunctions("books", newer) }
        try fixture.migrator().up()
        // The older program.
        try fixture.folder.writeFunctions("books", RepeatableFixture.books)
        if isRemoved { try fixture.folder.removeFunctions("audit") }
        let error = MigrationError.mismatch([.earlierFunctions])
        #expect(try fixture.migrator().verify() == [.earlierFunctions])
        #expect(throws: error) { try fixture.migrator().up() }
        #expect(throws: error) { try fixture.migrator().dryRun() }
        var allowing = try fixture.migrator()
        allowing.allowsEarlierFunctions = true
        #expect(try allowing.up().functions.map(\.name) == (isRemoved ? [] : ["books"]))
        #expect(try fixture.migrator().verify().isEmpty)
    }

    /// A newer release may contain the functions of an older one again.
    @Test func acceptsEarlierFunctionsWithANewVersion() throws {
        try fixture.migrator().up()
        try fixture.folder.writeFunctions("books", RepeatableFixture.changedBooks)
        try fixture.migrator().up()
        try fixture.folder.writeFunctions("books", RepeatableFixture.books)
        try fixture.folder.write("20260103000000_create_shelves", "CREATE TABLE shelves (id int);")
        #expect(try fixture.migrator().up().functions.map(\.name) == ["books"])
    }

    @Test func aDryRunChangesNothing() throws {
        let (first, untried) = try fixture.migrator().dryRun()
        #expect(untried.isEmpty)
        #expect(
            first.map(\.file.fileName) == [
                "20260101000000_create_books.sql", "20260102000000_create_runs.sql",
                "functions/books.sql", "functions/audit.sql",
            ])
        #expect(
            try fixture.text(
                "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace")
                == "0")
        try fixture.migrator().up()
        try fixture.folder.writeFunctions(
            "books",
            RepeatableFixture.books + "DROP POLICY IF EXISTS p ON books; CREATE POLICY p ON books;")
        let (second, _) = try fixture.migrator().dryRun()
        #expect(second.map(\.file.fileName) == ["functions/books.sql"])
        #expect(second[0].locks.map(\.table) == ["books"])
        #expect(second[0].locks.map(\.blocks) == [.readsAndWrites])
        #expect(try fixture.text("SELECT count(*) FROM pg_policies") == "0")
        try fixture.folder.write(
            "20260103000000_index", "-- no-transaction\nCREATE INDEX CONCURRENTLY ON books (id);")
        #expect(
            try fixture.migrator().dryRun().untried.map(\.fileName) == [
                "20260103000000_index.sql", "functions/books.sql",
            ])
    }
}
