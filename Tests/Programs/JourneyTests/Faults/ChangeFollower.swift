import Glibc
import GraphQL
import SocketClient
import Synchronization
import TestSupport

/// An app that follows the changes of a library over a WebSocket. It connects again when the connection ends, and continues
/// after the last change that it has received.
final class ChangeFollower: Sendable {
    struct Event: Equatable, Sendable, CustomStringConvertible {
        let kind: String
        let id: String

        var description: String { "\(kind) \(id)" }
    }

    private struct State {
        var events: [Event] = []
        var cursor: String
        var connectionCount = 0
        var isStopped = false
    }

    private let state: Mutex<State>
    private let port: Int
    private let token: String

    private static let subscription = """
        subscription($after: String!) { changes(after: $after) { cursor kind nodeId } }
        """

    /// - Parameter cursor: The changes after this one are received.
    init(port: Int, token: String, after cursor: String) {
        self.port = port
        self.token = token
        state = Mutex(State(cursor: cursor))
    }

    var events: [Event] { state.withLock { $0.events } }
    var connectionCount: Int { state.withLock { $0.connectionCount } }

    func stop() { state.withLock { $0.isStopped = true } }

    /// Receives changes until `stop()` is called. Blocks the thread.
    func run() throws {
        while !state.withLock({ $0.isStopped }) {
            // Every failure of the connection is followed by a new one.
            try? receive()
            Self.pause()
        }
    }

    private func receive() throws {
        // Shorter than the interval of the server's pings, so that a stopped follower ends soon.
        let client = try SocketClient(port: port, seconds: 3)
        try client.initialize(token: token)
        var writer = ResponseWriter()
        writer.write([
            "id": "changes", "type": "subscribe",
            "payload": [
                "query": .string(Self.subscription),
                "variables": ["after": .string(state.withLock { $0.cursor })],
            ],
        ])
        try client.send(String(decoding: writer.bytes, as: UTF8.self))
        state.withLock { $0.connectionCount += 1 }
        while true {
            let message = try parseJSON(Array(try client.message().utf8))
            let change = message["payload", "data", "changes"]
            guard let cursor = change?["cursor"]?.string, let kind = change?["kind"]?.string,
                let id = change?["nodeId"]?.string
            else { return }
            state.withLock {
                $0.events.append(Event(kind: kind, id: id))
                $0.cursor = cursor
            }
        }
    }

    private static func pause() { usleep(50_000) }
}
