import CLibPQ
import EventLoops
import NIOCore

/// Receives the notifications (`LISTEN`) of a fixed set of channels on a dedicated connection.
///
/// Notifications sent while the connection is down are lost. The listener therefore reports `.resync`
/// after each successful `LISTEN`, before any notification: the receiver must then read its tables,
/// because it may have missed any number of changes. Since `LISTEN` is active before `.resync` is
/// reported, a change is either visible to that read or arrives as a notification afterwards.
///
/// Example: the listener connects, reports `.resync`, and reports notification a. Then its connection is
/// lost, and b is sent. The listener reconnects and reports `.resync` again, which covers the lost b.
///
/// Close the listener when it is no longer needed: until then it keeps itself alive. The class is
/// `Sendable` because all of its state belongs to its loop and every method moves there first.
package final class Listener: LinkOwner, @unchecked Sendable {
    /// An event of the listener.
    package enum Event: Sendable, Equatable {
        /// The listener is now active; any number of notifications may have been missed before.
        case resync
        case notification(channel: String, payload: String)
    }

    private let configuration: PostgresConfiguration
    private let channels: [String]
    private let executor: EventLoopTaskExecutor
    private let readiness: any Readiness
    private let onEvent: @Sendable (Event) -> Void
    /// Whether the LISTEN commands have been sent but not completed.
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

    /// Creates a listener and starts to connect; reconnects whenever the connection is lost.
    ///
    /// - Parameters:
    ///   - channels: The names of the channels, as passed to NOTIFY.
    ///   - onEvent: Called for each event on the executor's loop, inside one of its turns.
    /// - Throws: `.connectFailed` if the kernel offers no way to watch a socket.
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

    /// Closes the connection. No event is reported afterwards.
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

    func linkReceived(_ connection: OpaquePointer, byteCount: Int) {
        while isStarting, PQisBusy(connection) == 0 {
            guard let result = PQgetResult(connection) else {
                isStarting = false  // all LISTEN commands have completed
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
