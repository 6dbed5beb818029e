import Foundation
import GRDB
import Testing

@testable import BookplateClient
@testable import ClientSimulation

@Suite struct QueueTests {
    private let simulation: Simulation
    private let device: SimulatedDevice
    private var library: Library { device.library }

    init() throws {
        simulation = try Simulation(deviceCount: 1)
        device = simulation.devices[0]
    }

    /// The documents of the requests that the engine sends now.
    private func sent() throws -> [String] {
        try device.engine.next().map {
            String($0.document.split(separator: "{ ")[1].prefix { $0 != "(" })
        }
    }

    @Test func independentWritesAreSentTogetherAndDependentOnesInOrder() throws {
        let shelf = try library.shelves.create("Evenings")
        let book = try library.books.add(.init(title: "Emma"))
        try library.books.update(book) { $0.genre = "Classics" }
        try library.books.add(.init(title: "Solaris", shelves: [shelf]))
        #expect(try sent() == ["createShelf", "createBook"])
        #expect(try sent() == [])
    }

    @Test func deletionOfAShelfIsSentAlone() throws {
        let shelf = try library.shelves.create("Evenings")
        try simulation.settle()
        try library.books.add(.init(title: "Emma"))
        try library.shelves.delete(shelf, books: .delete)
        try library.books.add(.init(title: "Solaris"))
        #expect(try sent() == ["createBook"])
    }

    @Test func updateSendsOnlyWhatHasChanged() throws {
        let book = try library.books.add(.init(title: "Emma", pageCount: 300))
        try library.books.update(book) {
            $0.genre = "Classics"
            $0.pageCount = nil
        }
        try library.books.update(book) { $0.title = "Emma" }
        let writes = try library.queuedWrites()
        #expect(writes.count == 2)
        #expect(writes.last?.input == ["genre": "Classics", "pageCount": nil])
    }

    @Test func refusedWriteIsUndoneWithThoseThatDependOnIt() throws {
        simulation.server.refusedTitle = "Refused"
        let book = try library.books.add(.init(title: "Refused", status: .reading))
        let read = try #require(try library.reader.read { try Read.fetchOne($0) })
        try library.reads.log(.page(10), in: read.id)
        try library.notes.create(book, text: "Fear is the mind-killer.")
        try library.books.add(.init(title: "Emma"))
        try simulation.settle()
        let problem = try #require(try library.reader.read { try Problem.fetchOne($0) })
        #expect(problem.undone.map(\.operation) == ["createBook", "logProgress", "createNote"])
        #expect(problem.code == .badUserInput)
        #expect(try device.snapshot() == simulation.server.snapshot)
        #expect(try device.snapshot().books.map(\.title) == ["Emma"])
    }

    /// Two devices have made the same shelf.
    @Test func laterWritesUseTheObjectThatExistsAlready() throws {
        let server = simulation.server
        server.shelves = [
            Shelf(
                id: "existing", name: "Evenings", position: 0, createdAt: server.now,
                updatedAt: server.now)
        ]
        let shelf = try library.shelves.create("evenings")
        try library.books.add(.init(title: "Emma", shelves: [shelf]))
        try simulation.settle()
        #expect(server.books.values.map(\.shelves) == [[Reference(id: "existing")]])
        let problem = try #require(try library.reader.read { try Problem.fetchOne($0) })
        #expect(problem.existingID == "existing")
        #expect(problem.undone.map(\.operation) == ["createShelf"])
    }

    /// The reader has deleted a new object, and the server has another one in its place, which must stay.
    @Test func deletionOfANewObjectDoesNotDeleteTheExistingOne() throws {
        let server = simulation.server
        server.shelves = [
            Shelf(
                id: "existing", name: "Evenings", position: 0, createdAt: server.now,
                updatedAt: server.now)
        ]
        let shelf = try library.shelves.create("evenings")
        let book = try library.books.add(.init(title: "Emma", shelves: [shelf]))
        try library.shelves.delete(shelf, books: .keep)
        try simulation.settle()
        #expect(server.shelves.map(\.id) == ["existing"])
        let problem = try #require(try library.reader.read { try Problem.fetchOne($0) })
        #expect(problem.undone.map(\.operation) == ["createShelf", "createBook", "deleteShelf"])
        #expect(server.books[book] == nil)
    }

    @Test func deletionOfANewReadDoesNotDeleteTheOpenOne() throws {
        let server = simulation.server
        let book = try library.books.add(.init(title: "Emma"))
        try simulation.settle()
        // Another device has started a read.
        server.reads["open"] = Read(
            id: "open", book: Reference(id: book), outcome: .reading, createdAt: server.now,
            updatedAt: server.now)
        server.record(Read.self, "open")
        let read = try library.reads.start(book)
        try library.reads.log(.page(10), in: read)
        try library.reads.delete(read)
        try simulation.settle()
        #expect(server.reads.keys.sorted() == ["open"])
        let problem = try #require(try library.reader.read { try Problem.fetchOne($0) })
        #expect(problem.undone.map(\.operation) == ["startRead", "logProgress", "deleteRead"])
        #expect(try device.snapshot() == server.snapshot)
    }

    @Test(
        arguments: [
            (ErrorCode.rateLimited, false), (.serviceUnavailable, false),
            (.internalServerError, true),
            (ErrorCode(rawValue: "NEWER_THAN_THIS_CLIENT"), true),
        ])
    func otherErrorsKeepTheWrite(_ code: ErrorCode, _ isReported: Bool) throws {
        try library.books.add(.init(title: "Emma"))
        let request = try #require(try device.engine.next().first)
        let response = ModelServer.response(ServerError("Later", code: code, retryAfter: 30))
        try device.engine.received(.response(response), for: request)
        #expect(try library.queuedWrites().count == 1)
        #expect(
            try library.reader.read { try Problem.fetchAll($0) }.map(\.isWaiting)
                == (isReported ? [true] : []))
        let waits = try #require(device.engine.wakesAt?.timeIntervalSince(simulation.clock.now))
        #expect(waits >= 30)
        simulation.clock.now += waits
        #expect(try sent() == ["createBook"])
    }

    /// A proxy, or the sign-in page of a network, may respond instead of the server.
    @Test(
        arguments: [
            (502, "<html>Bad Gateway</html>"), (200, "<html>Sign in</html>"), (200, "{}"),
            (200, #"{"data":null}"#), (200, #"{"data":{}}"#),
            (200, #"{"data":{"createBook":null}}"#),
            (200, #"{"data":{"updateBook":{"id":"x"}}}"#),
        ])
    func responsesOfOtherProgramsKeepTheWrite(_ status: Int, _ body: String) throws {
        try library.books.add(.init(title: "Emma"))
        let request = try #require(try device.engine.next().first)
        let page = HTTPResponse(status: status, body: Data(body.utf8))
        try device.engine.received(.response(page), for: request)
        #expect(try library.queuedWrites().count == 1)
        #expect(device.engine.wakesAt != nil)
    }

    /// The log has an entry for each input.
    @Test func batchWithoutAResultKeepsTheWrite() {
        for body in [#"{"data":{"logProgress":[]}}"#, #"{"data":{"logProgress":null}}"#] {
            let response = HTTPResponse(status: 200, body: Data(body.utf8))
            guard case .allWait = WriteAnswer(.response(response), to: .logProgress) else {
                Issue.record("\(body) counts as an answer.")
                continue
            }
        }
    }

    @Test func delayEndsWhenTheClockIsSetBack() throws {
        try library.books.add(.init(title: "Emma"))
        let request = try #require(try device.engine.next().first)
        try device.engine.received(.unreachable, for: request)
        #expect(try sent() == [])
        simulation.clock.now -= 86_400
        #expect(try sent() == ["createBook"])
    }

    @Test func forbiddenWriteIsUndone() throws {
        try library.books.add(.init(title: "Emma"))
        let request = try #require(try device.engine.next().first)
        let response = ModelServer.response(ServerError("Not allowed", code: .forbidden))
        try device.engine.received(.response(response), for: request)
        #expect(try library.queuedWrites() == [])
        #expect(try device.snapshot().books == [])
    }

    @Test func dismissedProblemDiscardsTheWriteThatWaits() throws {
        let book = try library.books.add(.init(title: "Emma"))
        try library.books.update(book) { $0.genre = "Classics" }
        let other = try library.books.add(.init(title: "Solaris"))
        let request = try #require(try device.engine.next().first)
        let response = ModelServer.response(ServerError("Bug", code: .internalServerError))
        try device.engine.received(.response(response), for: request)
        #expect(try device.dismissProblems() == 1)
        #expect(try library.queuedWrites().map(\.target) == [other])
        #expect(try device.snapshot().books.map(\.title) == ["Solaris"])
    }

    @Test func finishedBookIsNotFinishedAgainByItsStatus() throws {
        let book = try library.books.add(.init(title: "Emma"))
        for _ in 0..<2 { try library.books.setStatus(.read, of: book) }
        #expect(try device.snapshot().reads.count == 1)
        try library.books.setStatus(.reading, of: book)
        try library.books.setStatus(.read, of: book)
        #expect(try device.snapshot().reads.map(\.outcome) == [.finished, .finished])
    }

    @Test func searchFindsBeginningsOfWordsWithoutAccents() throws {
        try library.books.add(.init(title: "Café Society", authors: [Author("Zoë Müller")]))
        try library.books.add(.init(title: "Emma"))
        #expect(try library.books.search("mull caf").map(\.title) == ["Café Society"])
        #expect(try library.books.search("\"*").isEmpty)
    }

    @Test func queueSurvivesALossOfPower() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let pool = try LibraryDatabase.open(in: folder, at: simulation.server.now)
        let full = 2
        #expect(try pool.write { try Int.fetchOne($0, sql: "PRAGMA synchronous") } == full)
        try pool.close()
    }

    /// Writes zeros over a page of a table or an index in a closed database.
    private func damage(_ table: String, in folder: URL) throws {
        let file = folder.appendingPathComponent(LibraryDatabase.fileName).path
        let queue = try DatabaseQueue(path: file)
        let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?"
        let page = try queue.read { try Int.fetchOne($0, sql: sql, arguments: [table]) ?? 0 }
        try queue.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        try queue.close()
        let handle = try #require(FileHandle(forUpdatingAtPath: file))
        try handle.seek(toOffset: UInt64(page - 1) * 4096)
        handle.write(Data(repeating: 0xFF, count: 4096))
        try handle.close()
        LibraryDatabase.markAsDamaged(in: folder)
    }

    /// Runs a test with the folder of a library that has queued these books.
    private func withLibrary(of titles: [String], _ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let pool = try LibraryDatabase.open(in: folder, at: simulation.server.now)
        for title in titles {
            let write = Write(
                .createBook, title, ["title": .string(title)], creates: [title],
                at: simulation.server.now)
            try pool.write { try WriteQueue(db: $0).add(write) }
        }
        try pool.close()
        try body(folder)
    }

    /// The titles of the books, and the codes of the problems, in a library that has been opened again.
    private func reopened(_ folder: URL) throws -> (titles: [String], problems: [ErrorCode]) {
        let pool = try LibraryDatabase.open(in: folder, at: simulation.server.now)
        defer { try? pool.close() }
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(!files.contains { $0.hasSuffix("new") || $0.hasSuffix("rescued") })
        return try pool.read { db in
            #expect(try String.fetchOne(db, sql: "PRAGMA quick_check") == "ok")
            return (
                try Write.order(Column("seq")).fetchAll(db).map(\.target),
                try Problem.fetchAll(db).map(\.code)
            )
        }
    }

    @Test func damagedDatabaseIsReplacedAndItsQueueKept() throws {
        try withLibrary(of: ["Emma"]) { folder in
            try damage("book_title", in: folder)
            let (titles, problems) = try reopened(folder)
            #expect(titles == ["Emma"])
            #expect(problems == [])
        }
    }

    @Test func unreadableWriteIsReportedAndTheOthersAreKept() throws {
        try withLibrary(of: ["Emma", "Solaris", "Dune"]) { folder in
            let queue = try DatabaseQueue(
                path: folder.appendingPathComponent(LibraryDatabase.fileName).path)
            try queue.write {
                try $0.execute(sql: "UPDATE write SET input = '{' WHERE target = 'Solaris'")
            }
            try queue.close()
            try damage("book_title", in: folder)
            let (titles, problems) = try reopened(folder)
            #expect(titles == ["Emma", "Dune"])
            #expect(problems == [.localDamage])
        }
    }

    @Test func lossOfTheWholeQueueIsReported() throws {
        try withLibrary(of: ["Emma"]) { folder in
            try damage("write", in: folder)
            let (titles, problems) = try reopened(folder)
            #expect(titles == [])
            #expect(problems == [.localDamage])
        }
    }

    /// The app is killed after the new database is complete, and before it has replaced the old one.
    @Test func interruptedReplacementIsFinished() throws {
        try withLibrary(of: ["Emma"]) { folder in
            let file = folder.appendingPathComponent(LibraryDatabase.fileName)
            try FileManager.default.moveItem(
                at: file, to: file.appendingPathExtension("rescued"))
            try Data("damaged".utf8).write(to: file)
            try Data("damaged".utf8).write(to: URL(fileURLWithPath: file.path + "-wal"))
            #expect(try reopened(folder).titles == ["Emma"])
        }
    }

    /// A reset reads the reads page by page. A read that moves to an earlier page meanwhile is in the log, but its progress is not.
    @Test func progressOfAReadThatAResetMissesIsFetched() throws {
        let server = simulation.server
        let book = try library.books.add(.init(title: "Emma", pageCount: 100))
        try simulation.settle()
        let read = Read(
            id: "read", book: Reference(id: book), outcome: .finished, createdAt: server.now,
            updatedAt: server.now)
        for number in 0..<5 {
            let id = "entry \(number)"
            server.entries[id] = ProgressEntry(
                id: id, read: Reference(id: "read"), at: server.now, page: number, given: .page,
                createdAt: server.now, updatedAt: server.now)
        }
        server.record(Book.self, book)
        server.prune()
        device.engine.pullSoon()
        var documents: [String] = []
        while let request = try device.engine.next().first {
            documents.append(request.document)
            let response = server.respond(to: request)
            if request.document.contains("reads(") {
                server.reads["read"] = read
                server.record(Read.self, "read")
            }
            try device.engine.received(.response(response), for: request)
        }
        #expect(documents.filter { $0.contains("node(id") }.count == 3)
        #expect(try device.snapshot() == server.snapshot)
        #expect(try device.snapshot().entries.count == 5)
    }
}
