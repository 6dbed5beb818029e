import Glibc
import NIOPosix
import SocketClient
import Synchronization
import TestSupport

/// What one account does while another reader uses the server.
struct Attack: Sendable {
    /// What a connection does next.
    enum Step: Sendable {
        /// Sends a request and reads the response.
        case send([UInt8])
        /// Opens a connection without sending anything, and keeps it open until the end.
        case hold
        /// Opens and closes a connection.
        case touch
    }

    let name: String
    /// The number of connections that send requests at once.
    var connections = 16
    /// The number of requests that are made before the attack and then sent in turn; nil to make each one when it is sent. Making
    /// a large request takes the processor from the server.
    var prepared: Int?
    /// The number of steps after which a connection only waits; nil for no limit.
    var stepsMax: Int?
    /// Runs beside the attack until `isOver` returns true, for example to hold a lock.
    var beside:
        (
            @Sendable (
                _ attacker: NeighbourAccount, _ database: TestDatabase,
                _ isOver: @Sendable @escaping () -> Bool
            ) async throws -> Void
        )?
    /// Returns the step with a number, which counts over all connections.
    let step: @Sendable (_ attacker: NeighbourAccount, _ number: Int) -> Step

    /// Responses by their outcome.
    struct Counts: Sendable {
        /// Responses without errors.
        var answered = 0
        /// Responses with the status 200 and errors.
        var failed = 0
        /// Responses with the code `RATE_LIMITED`.
        var refused = 0
        /// Responses with another status.
        var rejected = 0
        /// Requests that had no response at the end of the attack.
        var abandoned = 0
        /// Connections without a request.
        var opened = 0
        /// Responses with the code `INTERNAL_SERVER_ERROR`.
        var internalErrors = 0
        /// Requests whose connection the server closed.
        var lost = 0
        /// One response of each kind that is not a success, for the author of an attack.
        var examples: [String: String] = [:]

        var sent: Int { answered + failed + refused + rejected + lost + abandoned + opened }
    }
}

/// An attack that runs.
final class RunningAttack: Sendable {
    private struct State {
        var isOver = false
        var counts = Attack.Counts()
        var stepCount = 0
        var clients: [ObjectIdentifier: RawClient] = [:]
    }

    /// How long a connection waits that was refused. A client that does not wait uses as much of the processors as it has
    /// itself, which no limit of a program can prevent.
    private static let pauseMicroseconds: UInt32 = 100_000

    private let attack: Attack
    private let attacker: NeighbourAccount
    private let prepared: [Attack.Step]
    private let port: Int
    private let state = Mutex(State())

    /// Makes the requests that the attack prepares.
    init(
        _ attack: Attack, by attacker: NeighbourAccount, on server: RunningServer
    ) {
        self.attack = attack
        self.attacker = attacker
        prepared = (0..<(attack.prepared ?? 0)).map { attack.step(attacker, $0) }
        port = server.client.port
    }

    /// Attacks for as long as `body` takes.
    func run(
        _ database: TestDatabase, _ body: () async throws -> Void
    ) async throws -> Attack.Counts {
        let threads = NIOThreadPool(numberOfThreads: attack.connections)
        threads.start()
        try await withThrowingTaskGroup { group in
            for _ in 0..<attack.connections {
                group.addTask { [self] in try await threads.runIfActive { self.attackUntilOver() } }
            }
            if let beside = attack.beside {
                group.addTask { [self] in try await beside(attacker, database, { self.isOver }) }
            }
            do {
                try await body()
            } catch {
                end()
                throw error
            }
            end()
            try await group.waitForAll()
        }
        try await threads.shutdownGracefully()
        return state.withLock { $0.counts }
    }

    private var isOver: Bool { state.withLock { $0.isOver } }

    /// Ends the attack, and abandons the requests that have no response yet.
    private func end() {
        let clients = state.withLock { state in
            state.isOver = true
            return Array(state.clients.values)
        }
        for client in clients { client.abandon() }
    }

    // MARK: - A connection

    private func attackUntilOver() {
        var client: RawClient?
        var held: [RawClient] = []
        var steps = 0
        while !isOver {
            guard steps < attack.stepsMax ?? .max else {
                usleep(10_000)
                continue
            }
            steps += 1
            let number = state.withLock { state in
                state.stepCount += 1
                return state.stepCount - 1
            }
            do {
                let step =
                    prepared.isEmpty
                    ? attack.step(attacker, number) : prepared[number % prepared.count]
                switch step {
                case .send(let request):
                    let connection = try client ?? connect()
                    client = connection
                    try connection.send(request)
                    let response = try connection.response(readsChunks: true)
                    if count(response) { usleep(Self.pauseMicroseconds) }
                    if response.headers["connection"] == "close" {
                        close(connection)
                        client = nil
                    }
                case .hold:
                    held.append(try connect())
                    count { $0.opened += 1 }
                case .touch:
                    close(try connect())
                    count { $0.opened += 1 }
                }
            } catch {
                if let connection = client { close(connection) }
                client = nil
                if isOver {
                    count { $0.abandoned += 1 }
                    break
                }
                count {
                    $0.lost += 1
                    $0.examples["lost"] = "\(error)"
                }
                usleep(Self.pauseMicroseconds)
            }
        }
        for connection in held { close(connection) }
        if let client { close(client) }
    }

    private func connect() throws -> RawClient {
        let client = try RawClient(port: port, from: attacker.address, timeout: 30)
        let isOver = state.withLock { state in
            state.clients[ObjectIdentifier(client)] = client
            return state.isOver
        }
        if isOver { client.abandon() }
        return client
    }

    private func close(_ client: RawClient) {
        state.withLock { _ = $0.clients.removeValue(forKey: ObjectIdentifier(client)) }
    }

    private func count(_ change: (inout Attack.Counts) -> Void) {
        state.withLock { change(&$0.counts) }
    }

    /// Counts a response.
    ///
    /// - Returns: whether it is not a success.
    private func count(_ response: RawResponse) -> Bool {
        // The text is searched instead of parsed, because the client shares the processors with the server.
        let head = String(decoding: response.bytes.prefix(600), as: UTF8.self)
        let isRefused = response.status == 429 || head.contains("\"RATE_LIMITED\"")
        let hasErrors = head.contains("\"errors\":")
        count { counts in
            if head.contains("\"INTERNAL_SERVER_ERROR\"") {
                counts.internalErrors += 1
                counts.examples["internal error"] = head
            }
            if isRefused {
                counts.refused += 1
            } else if !(200..<300).contains(response.status) {
                counts.rejected += 1
                counts.examples["\(response.status)"] = head
            } else if hasErrors {
                counts.failed += 1
                counts.examples["errors"] = head
            } else {
                counts.answered += 1
            }
        }
        return isRefused || !(200..<300).contains(response.status)
    }
}
