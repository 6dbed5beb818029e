import Glibc
import NIOPosix
import SocketClient
import Synchronization
import TestSupport

/// A reader who uses the server normally: ten times per second a first screen, a scan of an ISBN that the catalog has, and a
/// status change, and beside them `/health/live`.
///
/// These are 30 units per second, and one account may use 10. Five accounts of an address of their own therefore take turns, so
/// that none of them comes near its limit. Requests are sent at fixed times, whether or not the earlier ones have a response, and
/// their times count from then. So a server that stops for a second delays ten rounds, not one.
final class NeighbourReader: Sendable {
    static let address = "127.0.0.2"
    static let accountCount = 5
    private static let interval = Duration.milliseconds(100)
    /// A request without a response after this time has failed.
    private static let patience = Duration.seconds(10)

    /// The times of requests and the failures.
    struct Measurement: Sendable {
        var milliseconds: [Double] = []
        var liveMilliseconds: [Double] = []
        /// The times of scans that external sources answer.
        var sourceMilliseconds: [Double] = []
        var failures: [String] = []
    }

    private let accounts: [NeighbourAccount]
    private let isbns: [String]
    private let port: Int
    private let threads = NIOThreadPool(numberOfThreads: 128)
    private let state = Mutex(State())

    private struct State {
        var round = 0
        var idle: [RawClient] = []
        var measurement = Measurement()
    }

    /// - Parameter isbns: ISBNs to scan.
    init(_ accounts: [NeighbourAccount], isbns: [String], on server: RunningServer) {
        self.accounts = accounts
        self.isbns = isbns
        port = server.client.port
        threads.start()
    }

    deinit { threads.shutdownGracefully { _ in } }

    /// Opens the connections that the next rounds use.
    func connect() async throws {
        let clients = try await threads.runIfActive { [self] in
            try (0..<8).map { _ in try RawClient(port: port, from: Self.address, timeout: 20) }
        }
        state.withLock { $0.idle = clients }
    }

    /// Sends rounds for a time, and waits for all responses.
    ///
    /// - Parameter unknown: ISBNs that only the external sources have. Every 20th round scans one of them, and at most all of
    ///   them are scanned.
    func use(for duration: Duration, scanning unknown: [String] = []) async throws -> Measurement {
        state.withLock { $0.measurement = Measurement() }
        let start = ContinuousClock.now
        try await withThrowingTaskGroup { group in
            var due = start
            var unknown = unknown[...]
            var round = 0
            while due < start + duration {
                try await Task.sleep(until: due)
                let isbn = round % 20 == 0 ? unknown.popFirst() : nil
                for request in nextRound(scanning: isbn) {
                    let due = due
                    group.addTask { [self] in
                        try await threads.runIfActive { self.send(request, due) }
                    }
                }
                due += Self.interval
                round += 1
            }
            try await group.waitForAll()
        }
        return state.withLock { $0.measurement }
    }

    // MARK: - Requests

    private struct Request: Sendable {
        let name: String
        var times: WritableKeyPath<Measurement, [Double]> & Sendable = \.milliseconds
        let bytes: [UInt8]
    }

    private func nextRound(scanning unknown: String?) -> [Request] {
        let round = state.withLock { state in
            state.round += 1
            return state.round
        }
        let account = accounts[round % accounts.count]
        let books = account.ids["Book"] ?? []
        let book = books[round / accounts.count % books.count]
        let status = round / accounts.count / books.count % 2 == 0 ? "WANT_TO_READ" : "READ"
        return [
            Request(name: "first screen", bytes: account.post(Self.firstScreen)),
            Request(
                name: unknown == nil ? "scan" : "scan of an unknown book",
                times: unknown == nil ? \.milliseconds : \.sourceMilliseconds,
                bytes: account.post(
                    "query($isbn: String!) { lookupISBN(isbn: $isbn) { id title inLibrary { id } } }",
                    ["isbn": .string(unknown ?? isbns[round % isbns.count])])),
            Request(
                name: "status change",
                bytes: account.post(
                    "mutation($id: ID!, $s: ReadingStatus) { updateBook(id: $id, input: {status: $s}) { id status } }",
                    ["id": .string(book), "s": .string(status)])),
            Request(
                name: "live", times: \.liveMilliseconds,
                bytes: account.request("GET", "/health/live")),
        ]
    }

    private static let firstScreen = """
        { me { id displayName shelves { id name bookCount }
            books(first: 10) { nodes { id title authors { name } status image { url } } } }
          feed(first: 10) { nodes { id title image { url } } } }
        """

    private func send(_ request: Request, _ due: ContinuousClock.Instant) {
        let failure: String?
        do {
            let client =
                try state.withLock { $0.idle.popLast() }
                ?? RawClient(port: port, from: Self.address, timeout: 20)
            try client.send(request.bytes)
            let response = try client.response()
            // An error begins with `{"errors"`, or is in the rest of a small response.
            let isError =
                response.status != 200
                || response.bytes.firstRange(of: Array(#""errors":["#.utf8)) != nil
            failure =
                isError
                ? "\(response.status) \(response.body.prefix(300))"
                : ContinuousClock.now - due > Self.patience ? "too late" : nil
            if response.headers["connection"] != "close" {
                state.withLock { $0.idle.append(client) }
            }
        } catch {
            failure = "\(error)"
        }
        let time = (ContinuousClock.now - due) / .milliseconds(1)
        state.withLock { state in
            state.measurement[keyPath: request.times].append(time)
            if let failure {
                state.measurement.failures.append(
                    "\(request.name): \(failure) after \(Int(time)) ms")
            }
        }
    }
}

extension [Double] {
    /// Returns the value that a share of the values is less than or equal to; 0 if there are none.
    func percentile(_ share: Double) -> Double {
        let sorted = sorted()
        guard let last = sorted.indices.last else { return 0 }
        return sorted[Swift.min(last, Int(share * Double(sorted.count)))]
    }
}
