import Logging
import Postgres
import Synchronization

/// Wakes the subscriptions and sockets of this process when their library or session has changed.
///
/// Servers notify each other with NOTIFY. Notifications are lost while the connection that listens is down, so the hub
/// also polls the tables: every 10 s while it listens, and every 0.25 s while it does not. One statement polls
/// for up to 5000 sessions or libraries.
///
/// LISTEN may succeed although no notification arrives, for example through a connection pooler. The hub therefore also
/// notifies itself. It counts as listening while these notifications arrive.
package final class Hub: Sendable {
    private static let pollIntervals: (listening: Duration, disconnected: Duration) = (
        .seconds(10), .milliseconds(250)
    )
    /// The maximum number of sessions or libraries that one statement polls.
    private static let polledMax = 5000

    private struct SessionWatchers {
        let userID: UUID
        var onEnd: [Int: @Sendable () -> Void] = [:]
    }

    private struct LibraryWatchers {
        /// The position of the newest change that polling has found; nil before the first poll.
        var position: Int64?
        /// Whether a notification may have been lost since the last poll.
        var isStale: Bool
        var signals: [Int: Signal] = [:]
    }

    private struct State {
        var lastID = 0
        var sessions: [UUID: SessionWatchers] = [:]
        var libraries: [UUID: LibraryWatchers] = [:]
        /// The signals of the watches of the outbox.
        var outbox: [Int: Signal] = [:]
        /// Whether notifications arrive.
        var isListening = false
        var echo = NotificationEcho()
        var listener: Listener?
        var tasks: [Task<Void, Never>] = []
    }

    private let state = Mutex(State())
    private let database: ConnectionPool
    /// Receives every change, so that it does not serve users whose changes it may not have replayed.
    private let replica: Replica?
    private let logger: Logger
    /// Set to poll immediately.
    private let pollNow = Signal()
    /// Set to send a notification to itself immediately.
    private let echoNow = Signal()
    /// The channel of the notifications to itself.
    private let echoChannel = "hub_\(UUID.version7())"

    private init(_ database: ConnectionPool, _ replica: Replica?, _ logger: Logger) {
        self.database = database
        self.replica = replica
        self.logger = logger
    }

    /// Starts to listen on a connection of its own and to poll through the pool. The caller must close the hub.
    package static func start(
        _ configuration: PostgresConfiguration, database: ConnectionPool, replica: Replica? = nil,
        logger: Logger
    ) async throws(PostgresError) -> Hub {
        let hub = Hub(database, replica, logger)
        var configuration = configuration
        let onEvent = configuration.onEvent
        configuration.onEvent = { [weak hub] event in
            if case .connectionLost = event { hub?.disconnected() }
            onEvent(event)
        }
        let listener = try await Listener.start(
            configuration, channels: [sessionChannel, changeChannel, hub.echoChannel],
            on: database.executor
        ) { [weak hub] event in
            hub?.received(event)
        }
        hub.state.withLock {
            $0.listener = listener
            $0.tasks = [
                Task(executorPreference: database.executor) { [weak hub] in
                    while !Task.isCancelled, let wait = hub?.wait {
                        await wait()
                        await hub?.poll()
                    }
                },
                Task(executorPreference: database.executor) { [weak hub] in
                    while !Task.isCancelled, let signal = hub?.echoNow {
                        await signal.wait(atMost: NotificationEcho.interval)
                        await hub?.checkEcho()
                    }
                },
            ]
        }
        return hub
    }

    /// Stops listening and polling. Watches are no longer woken.
    package func close() async {
        let (listener, tasks) = state.withLock { ($0.listener.take(), $0.tasks) }
        for task in tasks { task.cancel() }
        await listener?.close()
    }

    /// The number of watches of sessions and libraries.
    package var watchCount: Int {
        state.withLock { state in
            state.sessions.values.reduce(0) { $0 + $1.onEnd.count }
                + state.libraries.values.reduce(0) { $0 + $1.signals.count }
        }
    }

    // MARK: Watching

    /// A registration with the hub. It ends when this object is released.
    package final class Watch: Sendable {
        /// Set after each change.
        package let signal: Signal
        private let release: @Sendable () -> Void

        fileprivate init(_ signal: Signal, release: @escaping @Sendable () -> Void) {
            self.signal = signal
            self.release = release
        }

        deinit { release() }
    }

    /// Watches a session.
    ///
    /// - Parameter onEnd: Called after the session has ended, on any thread, and possibly more than once.
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

    /// Watches the data of a user: the library with its log, imports, and events.
    package func watchLibrary(of userID: UUID) -> Watch {
        let signal = Signal()
        let id = state.withLock { state in
            state.lastID += 1
            let empty = LibraryWatchers(isStale: !state.isListening)
            state.libraries[userID, default: empty].signals[state.lastID] = signal
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

    /// Watches the event outbox, which all users share.
    package func watchOutbox() -> Watch {
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

    // MARK: Notifications

    /// Whether notifications arrive. The hub polls less often then.
    var isListening: Bool { state.withLock { $0.isListening } }

    private func disconnected() {
        state.withLock { $0.echo.disconnected() }
        listeningChanged(to: false)
    }

    private func connected() {
        state.withLock { $0.echo.connected(at: .now) }
        echoNow.set()
    }

    private func echoArrived() {
        let isNew = state.withLock { state in
            state.echo.arrived(at: .now)
            return !state.isListening
        }
        if isNew { listeningChanged(to: true) }
    }

    /// Checks whether the last notification to itself has arrived, and sends the next one.
    private func checkEcho() async {
        let (check, wasListening) = state.withLock { ($0.echo.check(at: .now), $0.isListening) }
        if case .missing(let isFirst) = check {
            if wasListening { listeningChanged(to: false) }
            if isFirst { logger.warning("\(Self.missingEcho)") }
        }
        await database.notify(echoChannel, [""])
    }

    private static let missingEcho =
        "notifications of the database do not arrive, so changes by other servers are visible later, and the replica is not used: "
        + "if there is a connection pooler, set BOOKPLATE_DATABASE_DIRECT_URL"

    private func listeningChanged(to isListening: Bool) {
        replica?.setHubConnected(isListening)
        state.withLock { state in
            state.isListening = isListening
            for userID in state.libraries.keys {
                state.libraries[userID]?.isStale = true
            }
        }
        // Notifications were lost while the hub did not listen.
        pollNow.set()
    }

    private func received(_ event: Listener.Event) {
        switch event {
        case .resync: connected()
        case .notification(channel: echoChannel, _): echoArrived()
        case .notification(channel: Self.sessionChannel, let payload):
            guard let session = UUID(payload) else { return }
            replica?.changed(session)
            sessionEnded(session)
        // Of `changeChannel`, the only other channel.
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
            ($0.sessions.map { (id: $0.key, userID: $0.value.userID) }, Array($0.libraries.keys))
        }
        do throws(PostgresError) {
            for chunk in sessions.chunks(of: Self.polledMax) {
                var parameters = Parameters()
                parameters.append(uuids: chunk.map { $0.userID })
                parameters.append(uuids: chunk.map { $0.id })
                let rows = try await database.run(
                    .one(Self.endedSessions, parameters, isReadOnly: true))
                rows[0].decode(UUID.self).forEach(sessionEnded)
            }
            for chunk in libraries.chunks(of: Self.polledMax) {
                var parameters = Parameters()
                parameters.append(uuids: Array(chunk))
                let rows = try await database.run(
                    .one(Self.positions, parameters, isReadOnly: true))
                var wokenCount = 0
                for library in rows[0].decode(LibraryPosition.self)
                where hasChanged(library) {
                    libraryChanged(library.userID)
                    wokenCount += 1
                    // Each of them will query the database. Pauses spread the load.
                    if wokenCount % 50 == 0 { try? await Task.sleep(for: .milliseconds(20)) }
                }
            }
        } catch {
            // The next poll tries again.
            logger.debug("live: cannot poll", metadata: ["error": "\(error)"])
        }
    }

    /// Records the position of a library. Returns whether its watches may not know of its newest change.
    private func hasChanged(_ library: LibraryPosition) -> Bool {
        state.withLock { state in
            guard let watchers = state.libraries[library.userID] else { return false }
            state.libraries[library.userID]?.position = library.position
            state.libraries[library.userID]?.isStale = false
            // A watch that began while the hub was listening reads the tables after it has begun, so a first position
            // is not a change.
            return watchers.isStale
                || (watchers.position ?? library.position) != library.position
        }
    }

    /// The payload is the id of a session that has ended.
    private static let sessionChannel = "session_ended"
    /// The payload is the id of a user whose library, imports, or events have changed.
    package static let changeChannel = "changes"

    private static let endedSessions = Statement("SELECT ended_sessions($1, $2)")
    private static let positions = Statement("SELECT user_id, position FROM library_positions($1)")

    /// A row of `positions`: a number that changes with each change of the user's data.
    private struct LibraryPosition: RowDecodable {
        let userID: UUID
        let position: Int64

        init?(_ row: inout RowReader) {
            guard let userID = row.uuid(), let position = row.int64() else { return nil }
            self.userID = userID
            self.position = position
        }
    }
}

extension Array {
    fileprivate func chunks(of count: Int) -> [ArraySlice<Element>] {
        stride(from: 0, to: self.count, by: count).map {
            self[$0..<Swift.min($0 + count, self.count)]
        }
    }
}
