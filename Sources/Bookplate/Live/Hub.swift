import Logging
import Postgres
import Synchronization

/// Wakes what waits for news of the database, in one server process.
///
/// NOTIFY tells at once and across servers, but what is told while the connection is down is lost: so
/// the tables are asked, too, seldom while the connection is up and often while it is not. One
/// statement asks for everybody who waits.
package final class Hub: Sendable {
    /// While notifications come, and while they do not.
    private static let pollIntervals: (listening: Duration, disconnected: Duration) = (
        .seconds(10), .milliseconds(250)
    )
    /// In one statement.
    private static let polledMax = 5000

    private struct SessionWatchers {
        let userID: UUID
        var onEnd: [Int: @Sendable () -> Void] = [:]
    }

    private struct LibraryWatchers {
        /// Of the newest change that polling has seen; nil before it has looked.
        var position: Int64?
        /// Whether a notification may have been missed since then.
        var isStale: Bool
        var signals: [Int: Signal] = [:]
    }

    private struct State {
        var lastID = 0
        var sessions: [UUID: SessionWatchers] = [:]
        var libraries: [UUID: LibraryWatchers] = [:]
        /// Of those who watch the outbox of all.
        var outbox: [Int: Signal] = [:]
        var isListening = false
        var listener: Listener?
        var polling: Task<Void, Never>?
    }

    private let state = Mutex(State())
    private let database: ConnectionPool
    /// Told of every change, to know whom it must not answer yet.
    private let replica: Replica?
    private let logger: Logger
    /// Set when polling is not to wait any longer.
    private let pollNow = Signal()

    private init(_ database: ConnectionPool, _ replica: Replica?, _ logger: Logger) {
        self.database = database
        self.replica = replica
        self.logger = logger
    }

    /// Begins to listen on a connection of its own, and to poll by the pool. Close it in the end.
    package static func start(
        _ configuration: PostgresConfiguration, database: ConnectionPool, replica: Replica? = nil,
        logger: Logger
    ) async throws(PostgresError) -> Hub {
        let hub = Hub(database, replica, logger)
        var configuration = configuration
        let onEvent = configuration.onEvent
        configuration.onEvent = { [weak hub] event in
            if case .connectionLost = event { hub?.isListening(false) }
            onEvent(event)
        }
        let listener = try await Listener.start(
            configuration, channels: [sessionChannel, changeChannel],
            on: database.executor
        ) { [weak hub] event in
            hub?.heard(event)
        }
        hub.state.withLock {
            $0.listener = listener
            $0.polling = Task(executorPreference: database.executor) { [weak hub] in
                while !Task.isCancelled, let wait = hub?.wait {
                    await wait()
                    await hub?.poll()
                }
            }
        }
        return hub
    }

    /// Ends listening and polling; nobody is woken any more.
    package func close() async {
        let (listener, polling) = state.withLock { ($0.listener.take(), $0.polling.take()) }
        polling?.cancel()
        await listener?.close()
    }

    /// How many sessions and libraries are watched.
    package var watchCount: Int {
        state.withLock { state in
            state.sessions.values.reduce(0) { $0 + $1.onEnd.count }
                + state.libraries.values.reduce(0) { $0 + $1.signals.count }
        }
    }

    // MARK: Watching

    /// What is watched is watched until this is let go.
    package final class Watch: Sendable {
        /// Set at each change of the library.
        let signal: Signal
        private let release: @Sendable () -> Void

        fileprivate init(_ signal: Signal, release: @escaping @Sendable () -> Void) {
            self.signal = signal
            self.release = release
        }

        deinit { release() }
    }

    /// Watches a session.
    ///
    /// - Parameter onEnd: called when it has ended, on any thread, perhaps more than once.
    func watch(session: UUID, of userID: UUID, onEnd: @escaping @Sendable () -> Void) -> Watch {
        let id = state.withLock { state in
            state.lastID += 1
            state.sessions[session, default: SessionWatchers(userID: userID)].onEnd[state.lastID] =
                onEnd
            return state.lastID
        }
        return Watch(Signal()) { [weak self] in
            self?.state.withLock { state in
                state.sessions[session]?.onEnd[id] = nil
                if state.sessions[session]?.onEnd.isEmpty == true { state.sessions[session] = nil }
            }
        }
    }

    /// Watches what is the user's.
    func watchLibrary(of userID: UUID) -> Watch {
        let signal = Signal()
        let id = state.withLock { state in
            state.lastID += 1
            let none = LibraryWatchers(isStale: !state.isListening)
            state.libraries[userID, default: none].signals[state.lastID] = signal
            return state.lastID
        }
        return Watch(signal) { [weak self] in
            self?.state.withLock { state in
                state.libraries[userID]?.signals[id] = nil
                if state.libraries[userID]?.signals.isEmpty == true {
                    state.libraries[userID] = nil
                }
            }
        }
    }

    /// Watches the outbox of all users.
    func watchOutbox() -> Watch {
        let signal = Signal()
        let id = state.withLock { state in
            state.lastID += 1
            state.outbox[state.lastID] = signal
            return state.lastID
        }
        return Watch(signal) { [weak self] in
            self?.state.withLock { $0.outbox[id] = nil }
        }
    }

    // MARK: Hearing

    private func isListening(_ isListening: Bool) {
        replica?.setHubConnected(isListening)
        state.withLock { state in
            state.isListening = isListening
            for userID in state.libraries.keys { state.libraries[userID]?.isStale = true }
        }
        // What was told meanwhile, nobody has heard.
        pollNow.set()
    }

    private func heard(_ event: Listener.Event) {
        switch event {
        case .resync: isListening(true)
        case .notification(channel: Self.sessionChannel, let payload):
            guard let session = UUID(payload) else { return }
            replica?.changed(session)
            sessionEnded(session)
        case .notification(_, let payload):
            guard let userID = UUID(payload) else { return }
            replica?.changed(userID)
            libraryChanged(userID)
            for signal in state.withLock({ Array($0.outbox.values) }) { signal.set() }
        }
    }

    private func sessionEnded(_ session: UUID) {
        let callbacks = state.withLock { Array($0.sessions[session]?.onEnd.values ?? [:].values) }
        for onEnd in callbacks { onEnd() }
    }

    private func libraryChanged(_ userID: UUID) {
        let signals = state.withLock { Array($0.libraries[userID]?.signals.values ?? [:].values) }
        for signal in signals { signal.set() }
    }

    // MARK: Polling

    private func wait() async {
        let interval = state.withLock {
            $0.isListening ? Self.pollIntervals.listening : Self.pollIntervals.disconnected
        }
        await pollNow.wait(atMost: interval)
    }

    private func poll() async {
        let (sessions, libraries) = state.withLock {
            ($0.sessions.map { ($0.key, $0.value.userID) }, Array($0.libraries.keys))
        }
        do throws(PostgresError) {
            for chunk in sessions.chunks(of: Self.polledMax) {
                var parameters = Parameters()
                parameters.append(uuids: chunk.map(\.1))
                parameters.append(uuids: chunk.map(\.0))
                let rows = try await database.run(
                    .one(Self.endedSessions, parameters, isReadOnly: true))[0]
                for row in 0..<rows.count { rows.uuid(row, 0).map(sessionEnded) }
            }
            for chunk in libraries.chunks(of: Self.polledMax) {
                var parameters = Parameters()
                parameters.append(uuids: Array(chunk))
                let rows = try await database.run(
                    .one(Self.positions, parameters, isReadOnly: true))[0]
                var woken = 0
                for row in 0..<rows.count {
                    guard let userID = rows.uuid(row, 0), let position = rows.int64(row, 1),
                        isNews(position, of: userID)
                    else { continue }
                    libraryChanged(userID)
                    woken += 1
                    // Each will ask the database, and not all at once.
                    if woken % 50 == 0 { try? await Task.sleep(for: .milliseconds(20)) }
                }
            }
        } catch {
            // The database is away; what waits is asked for again soon.
            logger.debug("live: cannot poll", metadata: ["error": "\(error)"])
        }
    }

    private func isNews(_ position: Int64, of userID: UUID) -> Bool {
        state.withLock { state in
            guard let watchers = state.libraries[userID] else { return false }
            state.libraries[userID]?.position = position
            state.libraries[userID]?.isStale = false
            // Who began to watch while notifications came has read what was there before.
            return watchers.isStale || (watchers.position ?? position) != position
        }
    }

    private static let sessionChannel = "session_ended"
    /// The channel that is notified with a user's id after their library, its change log, or the outbox has changed.
    package static let changeChannel = "changes"

    private static let endedSessions = Statement("SELECT ended_sessions($1, $2)")
    private static let positions = Statement("SELECT user_id, place FROM library_positions($1)")
}

extension Array {
    fileprivate func chunks(of count: Int) -> [ArraySlice<Element>] {
        stride(from: 0, to: self.count, by: count).map {
            self[$0..<Swift.min($0 + count, self.count)]
        }
    }
}
