import Glibc
import NIOPosix

/// A client that sends and receives raw bytes over its own socket.
///
/// Its calls block for up to `timeout` seconds, so they must run on another thread: see `onThread`.
package final class RawClient: Sendable {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    private let socket: Int32

    /// - Parameters:
    ///   - source: the loopback address of the client, such as 127.0.0.2.
    ///   - timeout: how long a call may block, in seconds.
    package init(port: Int, from source: String = "127.0.0.1", timeout: Int = 10) throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var limit = timeval(tv_sec: timeout, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr(source)
        let isBound = withUnsafeBytes(of: &address) {
            Glibc.bind(
                socket, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self),
                socklen_t($0.count))
        }
        guard isBound == 0 else { throw Failure(description: "bind: errno \(errno)") }
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let result = withUnsafeBytes(of: &address) {
            Glibc.connect(
                socket, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self),
                socklen_t($0.count))
        }
        guard result == 0 else { throw Failure(description: "connect: errno \(errno)") }
    }

    deinit { Glibc.close(socket) }

    package func send(_ text: String) throws { try send(Array(text.utf8)) }

    package func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failure(description: "send: errno \(errno)") }
            rest = rest.dropFirst(count)
        }
    }

    /// Closes the connection. Calls that block in other threads fail.
    package func abandon() { shutdown(socket, Int32(SHUT_RDWR)) }

    /// Closes the output. The client can still read.
    package func finishSending() { shutdown(socket, Int32(SHUT_WR)) }

    /// Returns the next bytes; empty at the end of the connection.
    package func receive(_ countMax: Int = 64 << 10) throws -> [UInt8] {
        var chunk = [UInt8](repeating: 0, count: countMax)
        let count = recv(socket, &chunk, countMax, 0)
        guard count >= 0 else { throw Failure(description: "receive: errno \(errno)") }
        return Array(chunk[..<count])
    }

    /// Reads the next response, which must have a content length or no body.
    ///
    /// - Parameter readsChunks: whether a chunked body is read, too. Its bytes then include the sizes of the chunks.
    package func response(toHEAD: Bool = false, readsChunks: Bool = false) throws -> RawResponse {
        var response = RawResponse(
            head: String(decoding: try receive(through: Array("\r\n\r\n".utf8)), as: UTF8.self))
        if readsChunks, response.headers["transfer-encoding"] == "chunked" {
            response.bytes = try receive(through: Array("\r\n0\r\n\r\n".utf8))
            return response
        }
        let length = toHEAD ? 0 : Int(response.headers["content-length"] ?? "0") ?? 0
        var body: [UInt8] = []
        while body.count < length {
            let more = try receive(length - body.count)
            guard !more.isEmpty else { throw Failure(description: "closed inside of a body") }
            body += more
        }
        response.bytes = body
        return response
    }

    /// Receives up to the end of a delimiter, and no later byte.
    private func receive(through delimiter: [UInt8]) throws -> [UInt8] {
        var received: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = recv(socket, &chunk, chunk.count, Int32(MSG_PEEK))
            guard count > 0 else {
                throw Failure(
                    description: "\(count == 0 ? "closed" : "receive: errno \(errno)") after "
                        + "'\(String(decoding: received, as: UTF8.self))'")
            }
            // The delimiter may have begun in an earlier chunk.
            let start = max(0, received.count - delimiter.count)
            let candidate = received[start...] + chunk[..<count]
            if let end = candidate.firstRange(of: delimiter)?.upperBound {
                return received + (try receive(end - received.count))
            }
            received += try receive(count)
        }
    }

    /// Returns whether the server closes the connection without sending anything more.
    package func isClosed() -> Bool { (try? receive(1).isEmpty) ?? (errno == ECONNRESET) }
}

package struct RawResponse: Sendable {
    package var status: Int
    /// The headers. Names are in lower case, and values of the same name are joined.
    package var headers: [String: String] = [:]
    package var bytes: [UInt8] = []
    package var body: String { String(decoding: bytes, as: UTF8.self) }

    package init(head: String) {
        let lines = head.split(separator: "\r\n")
        status = Int(lines.first?.split(separator: " ").dropFirst().first ?? "") ?? 0
        for line in lines.dropFirst() {
            let parts = line.split(separator: ": ", maxSplits: 1)
            guard parts.count == 2 else { continue }
            headers[parts[0].lowercased(), default: ""] += String(parts[1])
        }
    }
}

/// Runs blocking work on a thread pool, so that it blocks neither event loops nor tasks.
package func onThread<Result: Sendable>(
    _ work: @escaping @Sendable () throws -> Result
) async throws -> Result {
    try await NIOThreadPool.singleton.runIfActive(work)
}

extension String {
    /// A GraphQL request by POST.
    package static func post(
        _ body: String, headers: String = "content-type: application/json\r\n"
    ) -> String {
        "POST /graphql HTTP/1.1\r\nhost: test\r\ncontent-length: \(body.utf8.count)\r\n\(headers)\r\n\(body)"
    }
}
