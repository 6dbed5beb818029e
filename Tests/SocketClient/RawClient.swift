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

    package init(port: Int, timeout: Int = 10) throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var limit = timeval(tv_sec: timeout, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
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
    package func response(toHEAD: Bool = false) throws -> RawResponse {
        var head: [UInt8] = []
        // Reads one byte at a time, so that no byte of the next response is consumed.
        while !head.ends(with: "\r\n\r\n".utf8) {
            let byte = try receive(1)
            guard !byte.isEmpty else {
                throw Failure(
                    description: "closed after '\(String(decoding: head, as: UTF8.self))'")
            }
            head += byte
        }
        var response = RawResponse(head: String(decoding: head, as: UTF8.self))
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

extension [UInt8] {
    fileprivate func ends(with end: String.UTF8View) -> Bool {
        suffix(end.count).elementsEqual(end)
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
