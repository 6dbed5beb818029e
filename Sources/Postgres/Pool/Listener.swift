import EventLoops
import CLibPQ
import NIOCore

/// Hears the notifications of some channels, on a connection of its own.
///
/// A notification is a hint and never the truth: what is sent while the connection is down is lost, so
/// `.resync` comes before anything else each time that it is up again. Close it in the end: until then
/// it keeps itself alive.
///
/// All of its state belongs to its loop, and every method moves there first; hence Sendable.
package final class Listener: LinkOwner, @unchecked Sendable {
    /// What a listener tells.
    package enum Event: Sendable, Equatable {
        /// From now on notifications come; any number may have been missed before.
        case resync
        case notification(channel: String, payload: String)
    }

    private let configuration: PostgresConfiguration
    private let channels: [String]
    private let executor: EventLoopTaskExecutor
    private let readiness: any Readiness
    private let onEvent: @Sendable (Event) -> Void
    /// The commands to listen are under way.
    private var isStarting = false
    private lazy var link = Link(configuration, on: executor, readiness, owner: self)

    private init(
        _ configuration: PostgresConfiguration, channels: [String],
        on executor: EventLoopTaskExecutor, _ onEvent: @escaping @Sendable (Event) -> Void
    ) throws(PostgresError) {
        self.configuration = configuration
        self.channels = channels
        self.executor = executor
        self.onEvent = onEvent
        readiness = try configuration.readiness.start(on: executor)
    }

    /// Begins to listen; connects, and does so again whenever the connection is lost.
    ///
    /// - Parameters:
    ///   - channels: their names, as NOTIFY has them.
    ///   - onEvent: called on the executor's loop, inside one of its turns.
    /// - Throws: `.connectFailed` where the kernel has no way to watch a connection.
    package static func start(
        _ configuration: PostgresConfiguration, channels: [String],
        on executor: EventLoopTaskExecutor, _ onEvent: @escaping @Sendable (Event) -> Void
    ) async throws(PostgresError) -> Listener {
        try await executor.perform { () throws(PostgresError) in
            let listener = try Listener(configuration, channels: channels, on: executor, onEvent)
            listener.link.start()
            return listener
        }
    }

    /// Ends the connection; no event comes after it.
    package func close() async {
        await executor.perform {
            self.link.close()
            self.readiness.close()
        }
    }

    func linkOpened(_ connection: OpaquePointer) {
        isStarting = true
        var commands = ""
        for channel in channels {
            guard let name = PQescapeIdentifier(connection, channel, channel.utf8.count) else {
                return link.lose(errorMessage(connection))
            }
            commands += "LISTEN \(String(cString: name));"
            PQfreemem(name)
        }
        guard PQsendQuery(connection, commands) == 1 else {
            return link.lose(errorMessage(connection))
        }
        link.flush()
    }

    func linkReceived(_ connection: OpaquePointer) {
        while isStarting, PQisBusy(connection) == 0 {
            guard let result = PQgetResult(connection) else {
                isStarting = false  // all commands have been done
                onEvent(.resync)
                break
            }
            let failure =
                PQresultStatus(result) == PGRES_FATAL_ERROR ? errorMessage(connection) : nil
            PQclear(result)
            if let failure { return link.lose(failure) }
        }
        while link.connection == connection, let notification = PQnotifies(connection) {
            let event = Event.notification(
                channel: String(cString: notification.pointee.relname),
                payload: String(cString: notification.pointee.extra))
            PQfreemem(notification)
            onEvent(event)
        }
    }

    func linkLost(_ reason: String) {}
}
