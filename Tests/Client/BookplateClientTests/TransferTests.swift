import Foundation
import Testing

@testable import BookplateClient
@testable import ClientSimulation

@Suite struct TransferTests {
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("bookplate-transfer-\(UUID())")

    private func library(_ transport: any Transport) async throws -> Library {
        let clock = SleepingClock()
        let bookplate = try Bookplate(
            server: URL(fileURLWithPath: "/"), app: "test", folder: folder,
            sessionStore: MemorySessionStore(ModelNetwork().session),
            environment: ClientEnvironment(
                transport: transport, now: { clock.now }, sleep: { try await clock.sleep($0) }))
        return try #require(try await bookplate.library)
    }

    private static func event(_ done: Int, _ state: String) -> String {
        """
        event: next
        data: {"data":{"importProgress":{"id":"i","state":"\(state)","total":10,"done":\(done),\
        "created":\(done),"updated":0,"failed":[],"ignoredColumns":[]}}}


        """
    }

    /// The first connection breaks in the middle of an event, and the second one before any.
    @Test func progressContinuesAfterBrokenConnections() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let streams = [
            [Self.event(2, "RUNNING"), String(Self.event(5, "RUNNING").prefix(40))], [],
            [Self.event(7, "RUNNING"), Self.event(10, "DONE"), "event: complete\ndata:\n\n"],
        ]
        let library = try await library(StreamTransport(streams))
        var seen: [Int] = []
        for try await progress in library.imports.progress(of: "i") {
            seen.append(progress.done)
            #expect(progress.fraction == Double(progress.done) / 10)
        }
        #expect(seen.last == 10)
        #expect(seen == seen.sorted())
        #expect(!seen.contains(5))
    }

    @Test func missingImportEndsTheProgress() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let error = #"{"errors":[{"message":"None","extensions":{"code":"NOT_FOUND"}}]}"#
        let library = try await library(StreamTransport([["event: next\ndata: \(error)\n\n"]]))
        await #expect(throws: ServerError.self) {
            for try await _ in library.imports.progress(of: "i") {}
        }
    }

    private static let archive =
        Data("PK contents".utf8) + Data([0x50, 0x4B, 0x05, 0x06]) + Data(count: 18)

    @Test func exportIsRepeatedUntilTheArchiveIsComplete() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let archive = String(decoding: Self.archive, as: UTF8.self)
        let transport = StreamTransport([
            [String(archive.prefix(5))], ["PK con", "tents" + archive.dropFirst(11)],
        ])
        let library = try await library(transport)
        let file = folder.appendingPathComponent("library.zip")
        try Data("old".utf8).write(to: file)
        let counts = Counts()
        try await library.export(to: file) { counts.add($0) }
        #expect(try Data(contentsOf: file) == Self.archive)
        #expect(counts.values == [5, 6, Self.archive.count])
        await #expect(throws: BookplateError.self) { try await library.export(to: file) }
        #expect(try Data(contentsOf: file) == Self.archive)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(!names.contains { $0.hasSuffix("part") })
    }
}

/// `@unchecked`: the lock protects the values.
private final class Counts: @unchecked Sendable {
    private let lock = NSLock()
    private var counts: [Int] = []
    var values: [Int] { lock.withLock { counts } }
    func add(_ count: Int) { lock.withLock { counts.append(count) } }
}

/// A network whose streams have these parts, one after the other, and end then. Other requests return the address of an export.
///
/// `@unchecked`: the lock protects the streams.
private final class StreamTransport: Transport, @unchecked Sendable {
    private let lock = NSLock()
    private var streams: [[String]]

    init(_ streams: [[String]]) { self.streams = streams }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        HTTPResponse(
            status: 200,
            body: Data(#"{"data":{"exportLibrary":{"url":"https://books.test/export"}}}"#.utf8))
    }

    func stream(_ request: HTTPRequest) -> AsyncThrowingStream<Data, any Error> {
        let parts = lock.withLock { streams.isEmpty ? nil : streams.removeFirst() }
        return AsyncThrowingStream { continuation in
            for part in parts ?? [] { continuation.yield(Data(part.utf8)) }
            continuation.finish(
                throwing: parts == nil ? URLError(.notConnectedToInternet) : nil)
        }
    }
}
