import Glibc

/// A connection for requests and responses that are sent in parts or abandoned.
///
/// Its receive buffer is small, so the server has to wait before it can send a large response. Its methods block for up
/// to 20 seconds, so call them inside `blocking { … }`.
final class StreamClient: Sendable {
    private let socket: Int32

    init(port: Int) throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var bufferBytes: Int32 = 4096
        setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &bufferBytes, 4)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(truncatingIfNeeded: port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let result = withUnsafeBytes(of: &address) {
            connect(
                socket, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count))
        }
        guard result == 0 else { throw Program.Failure(description: "connect: errno \(errno)") }
    }

    deinit { close(socket) }

    /// Sends the head of a request and its body or the first part of it.
    ///
    /// - Parameter length: the `Content-Length`, if it is not the length of `body`.
    func send(
        _ method: String, _ path: String, headers: [String: String], body: [UInt8] = [],
        length: Int? = nil
    ) throws {
        let fields = headers.map { "\($0.key): \($0.value)\r\n" }.joined()
        let head =
            "\(method) \(path) HTTP/1.1\r\nhost: localhost\r\n\(fields)"
            + "content-length: \(length ?? body.count)\r\n\r\n"
        var rest = (Array(head.utf8) + body)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Program.Failure(description: "send: errno \(errno)") }
            rest = rest.dropFirst(count)
        }
    }

    /// Receives until the text has arrived. Without a text, receives until the server closes the connection.
    ///
    /// - Returns: everything that this call received.
    @discardableResult
    func receive(until text: String? = nil) throws -> String {
        var received: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 12)
        while true {
            if let text, received.firstRange(of: Array(text.utf8)) != nil { break }
            let count = recv(socket, &chunk, chunk.count, 0)
            if count == 0, text == nil { break }
            guard count > 0 else {
                throw Program.Failure(
                    description: "\(count == 0 ? "closed" : "receive: errno \(errno)") after "
                        + "'\(String(decoding: received, as: UTF8.self))'")
            }
            received += chunk[..<count]
        }
        return String(decoding: received, as: UTF8.self)
    }

    /// Resets the connection, as happens when a client crashes while data is in transit.
    func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(
            socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        // SO_LINGER takes effect when the last descriptor of the socket is closed. `dup2` closes it and keeps the
        // number valid for `deinit`.
        let other = open("/dev/null", O_RDONLY)
        dup2(other, socket)
        close(other)
    }
}
