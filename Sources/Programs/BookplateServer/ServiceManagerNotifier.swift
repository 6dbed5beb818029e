import Config
import Glibc
import Logging
import NIOCore
import ServiceLifecycle

/// Reports the state of the server to systemd. Does nothing if the configuration has no service manager.
///
/// As a service, it reports regularly that all event loops respond. If one does not, systemd kills the process and starts
/// another.
struct ServiceManagerNotifier: Service {
    /// The messages of `sd_notify(3)`.
    enum State: String {
        case ready = "READY=1"
        case stopping = "STOPPING=1"
        case alive = "WATCHDOG=1"
    }

    private let manager: Configuration.ServiceManager?
    private let group: any EventLoopGroup
    private let logger: Logger

    init(
        _ manager: Configuration.ServiceManager?, _ group: any EventLoopGroup, _ logger: Logger
    ) {
        self.manager = manager
        self.group = group
        self.logger = logger
    }

    func run() async throws {
        guard let interval = manager?.watchdogMicroseconds else {
            return try await gracefulShutdown()
        }
        try await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                for loop in group.makeIterator() { try await loop.submit {}.get() }
                report(.alive)
                // Half of the time, as `sd_watchdog_enabled(3)` recommends.
                try? await Task.sleep(for: .microseconds(interval / 2))
            }
        }
    }

    func report(_ state: State) {
        guard let manager else { return }
        if !send(state.rawValue, to: manager.socket) {
            logger.warning(
                "the service manager could not be notified",
                metadata: ["state": "\(state.rawValue)", "errno": .stringConvertible(errno)])
        }
    }
}

/// Sends a datagram to a Unix socket and returns whether the socket accepted it. Otherwise `errno` has the reason.
private func send(_ message: String, to path: String) -> Bool {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    // The name of an abstract socket begins with a null byte.
    let name = path.utf8.enumerated().map { $0 == 0 && $1 == UInt8(ascii: "@") ? 0 : $1 }
    guard name.count < MemoryLayout.size(ofValue: address.sun_path) else {
        errno = ENAMETOOLONG
        return false
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    let byteCount =
        MemoryLayout.size(ofValue: address) - MemoryLayout.size(ofValue: address.sun_path)
        + name.count

    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    let sent = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
            sendto(
                descriptor, message, message.utf8.count, Int32(MSG_NOSIGNAL), address,
                socklen_t(byteCount))
        }
    }
    return sent == message.utf8.count
}
