import Glibc
import TestSupport

/// The socket of a service manager, as systemd creates it for a service with `Type=notify`.
final class NotifySocket: Sendable {
    let path: String
    private let descriptor: Int32

    init(folder: String) throws {
        path = "\(folder)/notify"
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else {
            throw Program.Failure(description: "\(path): errno \(errno)")
        }
    }

    deinit {
        close(descriptor)
    }

    /// Waits for the next message.
    func next() async throws -> String {
        try await blocking { [descriptor] in
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, 30_000) == 1 else {
                throw Program.Failure(description: "no message within 30 s")
            }
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = recv(descriptor, &bytes, bytes.count, 0)
            guard count > 0 else { throw Program.Failure(description: "recv: errno \(errno)") }
            return String(decoding: bytes[..<count], as: UTF8.self)
        }
    }
}
