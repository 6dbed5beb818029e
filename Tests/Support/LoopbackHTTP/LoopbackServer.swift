import Glibc
import Synchronization

/// A request as received from the client.
package struct ReceivedRequest: Sendable {
    package var method: String
    package var target: String
    /// The headers. The keys are names in lower case.
    package var headers: [String: String]
    package var body: String
}

/// A step of a response. The connection is closed after the last step.
package enum Step: Sendable {
    case send(String)
    case bytes([UInt8])
    case pause(milliseconds: UInt32)
    /// Repeats the text until `bytes` bytes have been sent or the client has disconnected.
    case flood(String, bytes: Int)
}

/// An HTTP server on a free port of 127.0.0.1 that sends arbitrary bytes, for tests of misbehaving servers.
package final class LoopbackServer: Sendable {
    package typealias Handler = @Sendable (ReceivedRequest) -> [Step]

    package let port: UInt16
    private let listener: Int32
    private let handler: Handler
    private let received = Mutex<[ReceivedRequest]>([])

    /// - Parameter port: 0 selects any free port.
    package init(port: UInt16 = 0, _ handler: @escaping Handler) throws {
        signal(SIGPIPE, SIG_IGN)
        self.handler = handler
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        var yes: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutableBytes(of: &address) { bytes in
            let raw = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
            return bind(listener, raw, length) == 0 && listen(listener, 64) == 0
                && getsockname(listener, raw, &length) == 0
        }
        guard listener >= 0, bound else { throw ServerError(errno: errno) }
        self.listener = listener
        self.port = UInt16(bigEndian: address.sin_port)
        thread { [weak self] in
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0, let server = self else { break }
                thread { server.serve(connection) }
            }
            close(listener)
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
    }

    /// Returns a port of 127.0.0.1 that refuses connections until a server is started on it.
    package static func closedPort() throws -> UInt16 {
        let probe = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(probe) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutableBytes(of: &address) { bytes in
            let raw = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
            return bind(probe, raw, length) == 0 && getsockname(probe, raw, &length) == 0
        }
        guard probe >= 0, isBound else { throw ServerError(errno: errno) }
        return UInt16(bigEndian: address.sin_port)
    }

    package struct ServerError: Error {
        package var errno: Int32
    }

    /// Returns `http://127.0.0.1:<port><path>`.
    package func url(_ path: String = "/") -> String { "http://127.0.0.1:\(port)\(path)" }

    /// All requests received so far, in the order in which they were complete.
    package var requests: [ReceivedRequest] { received.withLock { $0 } }

    private func serve(_ connection: Int32) {
        defer { close(connection) }
        guard let request = readRequest(connection) else { return }
        received.withLock { $0.append(request) }
        for step in handler(request) {
            switch step {
            case .send(let text): guard send(Array(text.utf8), to: connection) else { return }
            case .bytes(let bytes): guard send(bytes, to: connection) else { return }
            case .pause(let milliseconds): usleep(milliseconds * 1000)
            case .flood(let text, let bytes):
                for _ in 0..<(bytes / max(1, text.utf8.count)) {
                    guard send(Array(text.utf8), to: connection) else { return }
                }
            }
        }
    }

    private func send(_ bytes: [UInt8], to connection: Int32) -> Bool {
        var bytes = bytes[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { write(connection, $0.baseAddress, $0.count) }
            guard count > 0 else { return false }
            bytes = bytes.dropFirst(count)
        }
        return true
    }

    private func readRequest(_ connection: Int32) -> ReceivedRequest? {
        var text: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65536)
        while true {
            if let request = parse(text) { return request }
            let count = read(connection, &chunk, chunk.count)
            guard count > 0 else { return nil }
            text.append(contentsOf: chunk[..<count])
        }
    }

    /// Returns the request if it is complete.
    private func parse(_ bytes: [UInt8]) -> ReceivedRequest? {
        let text = String(decoding: bytes, as: UTF8.self)
        // Swift treats CRLF as one Character, so the text can be split at it.
        let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
        guard let blank = lines.firstIndex(of: ""), blank > 0, blank < lines.count - 1 else {
            return nil
        }
        let start = lines[0].split(separator: " ")
        var headers: [String: String] = [:]
        for line in lines[1..<blank] {
            guard let colon = line.firstIndex(of: ":") else { continue }
            headers[line[..<colon].lowercased()] = String(
                line[line.index(after: colon)...].drop { $0 == " " })
        }
        let body = lines[(blank + 1)...].joined(separator: "\r\n")
        guard body.utf8.count >= Int(headers["content-length"] ?? "0") ?? 0 else { return nil }
        return ReceivedRequest(
            method: String(start[0]), target: String(start[1]), headers: headers, body: body)
    }
}

extension Step {
    /// A complete response with a `Content-Length` header.
    package static func response(
        _ status: Int = 200, headers: [String] = [], _ body: String = ""
    ) -> Step {
        let head =
            [
                "HTTP/1.1 \(status) Status", "Content-Length: \(body.utf8.count)",
                "Connection: close",
            ]
            + headers
        return .send(head.joined(separator: "\r\n") + "\r\n\r\n" + body)
    }
}

/// A port of 127.0.0.1 that refuses connections, and that nothing else can use until the object is released.
package final class ReservedPort {
    package let port: UInt16
    private let descriptor: Int32

    package init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        // Bound but not listening, so the kernel rejects connections.
        let isBound = withUnsafeMutableBytes(of: &address) { bytes in
            let raw = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
            return bind(descriptor, raw, length) == 0 && getsockname(descriptor, raw, &length) == 0
        }
        guard descriptor >= 0, isBound else { throw LoopbackServer.ServerError(errno: errno) }
        self.descriptor = descriptor
        port = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(descriptor) }
}

private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

private func thread(_ body: @escaping @Sendable () -> Void) {
    let work = Unmanaged.passRetained(Work(body)).toOpaque()
    var handle = pthread_t()
    let code = pthread_create(
        &handle, nil,
        { raw in
            if let raw { Unmanaged<Work>.fromOpaque(raw).takeRetainedValue().body() }
            return nil
        }, work)
    precondition(code == 0, "cannot create a thread for the test server")
    pthread_detach(handle)
}
