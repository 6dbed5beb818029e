import Foundation
import GRDB
import Testing

@testable import BookplateClient
@testable import ClientSimulation

@Suite struct ScanTests {
    @Test(
        arguments: [
            ("9780306406157", "9780306406157"), ("978-0-306-40615-7", "9780306406157"),
            ("0-306-40615-2", "9780306406157"), ("ISBN-13: 978 0 306 40615 7", "9780306406157"),
            ("isbn 0306406152", "9780306406157"), ("978030640615751995", "9780306406157"),
            ("0-8044-2957-X", "9780804429573"), ("080442957x", "9780804429573"),
            ("9780306406158", nil), ("4006381333931", nil), ("Emma", nil), ("", nil), ("X", nil),
        ] as [(String, String?)])
    func codesAreRead(_ code: String, _ isbn: String?) {
        #expect(ISBN(scanned: code)?.rawValue == isbn)
    }

    @Test func scannedBooksAreAddedOnce() throws {
        let simulation = try Simulation(deviceCount: 1)
        let library = simulation.devices[0].library
        let first = try library.books.scan("9780306406157", status: .reading)
        #expect(try library.books.scan("0-306-40615-2") == .inLibrary(first.book))
        try simulation.settle()
        #expect(try library.books.scan("978-0-306-40615-7") == .inLibrary(first.book))
        #expect(try library.queuedWrites() == [])
        #expect(throws: BookplateError.self) { try library.books.scan("9780306406158") }
    }

    /// The reader has shelved the book, so that it must not disappear.
    @Test func bookOfAnUnknownISBNStays() throws {
        let simulation = try Simulation(deviceCount: 1)
        let device = simulation.devices[0]
        simulation.server.unknownISBNs = ["9780306406157"]
        let shelf = try device.library.shelves.create("Evenings")
        let book = try device.library.books.scan("9780306406157", shelves: [shelf]).book
        try device.library.notes.create(book, text: "From a flea market")
        try simulation.settle()
        #expect(simulation.server.books[book]?.title == "9780306406157")
        #expect(try device.snapshot() == simulation.server.snapshot)
        let problem = try #require(try device.database.read { try Problem.fetchOne($0) })
        #expect(problem.reason == .unknownISBN)
        #expect(problem.target == book)
        #expect(problem.undone == [])
    }

    @Test func sourcesThatAreDownAreNotAProblemOfTheReader() throws {
        let simulation = try Simulation(deviceCount: 1)
        let device = simulation.devices[0]
        try device.library.books.scan("9780306406157")
        let request = try #require(try device.engine.next().first)
        let error = ServerError("No source responds", code: .upstreamUnavailable)
        try device.received(
            .response(ModelServer.response(error)), for: request, accessToken: "")
        #expect(try device.dismissProblems() == 0)
        #expect(device.engine.wakesAt != nil)
        simulation.clock.now += 10
        try simulation.settle()
        #expect(try simulation.server.snapshot.books.count == 1)
    }
}
