import Basics
import HTTPFetch
import LoopbackHTTP
import TestBasics
import Testing

@testable import BookSources

/// The order in which requests arrive at a source, over real HTTP.
@Suite struct RequestTurnsTests {
    private let server: LoopbackServer
    private let fetcher: Fetcher

    init() throws {
        server = try LoopbackServer { _ in [.response(200, "{}")] }
        fetcher = Fetcher(
            policy: FetchPolicy(
                userAgent: "bookplate-test", allowed: try FetchAllowList(parsing: "127.0.0.1")))
    }

    private func client(_ perSecond: Double, burst: Double) -> SourceClient {
        SourceClient(
            fetcher, limit: RateLimit(perSecond: perSecond, burst: burst),
            gate: SourceLimits().gate(of: .isbnDB))
    }

    private func options(
        _ priority: RequestPriority, _ reader: UInt64? = nil
    ) -> CallOptions {
        CallOptions(
            deadline: .now.advanced(by: .seconds(10_000_000)), priority: priority,
            reader: reader.map { UUID(high: 0, low: $0) })
    }

    /// However many background requests wait, those of a reader are sent at once.
    @Test func readersDoNotWaitForBackgroundWork() async throws {
        // A token takes hours, so that none arrives during the test.
        let client = client(0.0001, burst: 6)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask {
                    _ = try? await client.json(
                        server.url("/background/\(number)"), options: options(.background))
                }
            }
            try await waitUntil("17 requests wait") {
                server.requests.count == 3 && client.turns.waitingCount == 17
            }
            for number in 0..<3 {
                let json = try await client.json(
                    server.url("/reader/\(number)"), options: options(.interactive, 1))
                #expect(json != nil)
            }
            #expect(
                server.requests.map(\.target).suffix(3) == ["/reader/0", "/reader/1", "/reader/2"])
            #expect(server.requests.count == 6)
            group.cancelAll()
        }
        #expect(client.turns.waitingCount == 0)
    }

    /// Jobs are then postponed, and do not use up their attempts.
    @Test func backgroundWorkPausesWhileReadersLeaveItNoTime() async throws {
        let client = client(0.0001, burst: 2)
        func send(_ priority: RequestPriority) async throws(SourceError) {
            _ = try await client.json(
                server.url(), options: CallOptions(deadline: .now + .seconds(5), priority: priority)
            )
        }
        try await send(.interactive)
        #expect(client.pausedUntil(.background) == nil)
        await #expect(throws: SourceError.busy) { try await send(.background) }
        #expect(client.pausedUntil(.background) != nil)
        #expect(client.pausedUntil(.interactive) == nil)
        try await send(.interactive)
    }

    /// A reader's request does not wait for all requests of another reader.
    @Test func readersTakeTurns() async throws {
        let client = client(2, burst: 1)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<12 {
                group.addTask {
                    _ = try? await client.json(
                        server.url("/one/\(number)"), options: options(.interactive, 1))
                }
            }
            try await waitUntil("11 requests wait") { client.turns.waitingCount == 11 }
            _ = try await client.json(server.url("/other"), options: options(.interactive, 2))
            let before = server.requests.map(\.target).firstIndex(of: "/other")
            #expect(try #require(before) <= 3)
            group.cancelAll()
        }
    }

    @Test func refusesAReaderWithTooManyWaitingRequests() async throws {
        let client = client(0.0001, burst: 1)
        let waitingMax = RequestQueue.waitingOfReaderMax
        let patient = options(.interactive, 1)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0...waitingMax {
                group.addTask { _ = try? await client.json(server.url(), options: patient) }
            }
            try await waitUntil("as many wait as may") {
                client.turns.waitingCount == waitingMax
            }
            await #expect(throws: SourceError.tooManyWaiting) {
                try await client.json(server.url(), options: patient)
            }
            group.cancelAll()
        }
        await #expect(throws: SourceError.busy) {
            try await client.json(
                server.url(), options: CallOptions(deadline: .now, priority: .interactive))
        }
        #expect(server.requests.count == 1)
    }
}
