import Glibc

/// A WebSocket client for tests, which can send invalid frames.
///
/// Its methods block until the time limit, so they must not be called on a thread of Swift's cooperative pool.
package final class SocketClient: Sendable {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    package enum Frame: Equatable, Sendable {
        case text(String)
        case ping
        case pong(String)
        case close(code: Int, reason: String)
        /// The connection was closed without a close frame.
        case end
    }

    private let socket: Int32
    /// The status line and the headers of the handshake response, in lower case.
    package let head: String

    /// The names of the response's headers as the server wrote them.
    package let headerNames: [String]

    package var status: Int { Int(head.split(separator: " ").dropFirst().first ?? "") ?? 0 }

    package init(
        port: Int, path: String = "/graphql", subprotocol: String? = "graphql-transport-ws",
        version: String = "13", headers: [String: String] = [:], seconds: Int = 10,
        receiveBufferBytes: Int32? = nil, sentWithHandshake: [UInt8] = []
    ) throws {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var limit = timeval(tv_sec: seconds, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        // Disable Nagle's algorithm, so that each piece is sent immediately.
        var isNotDelayed: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &isNotDelayed, 4)
        if var receiveBufferBytes {
            setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &receiveBufferBytes, 4)
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(truncatingIfNeeded: port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let result = withUnsafeBytes(of: &address) {
            Glibc.connect(
                socket, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self),
                socklen_t($0.count))
        }
        guard result == 0 else { throw Failure(description: "connect: errno \(errno)") }
        var fields = [
            "host": "localhost:\(port)", "upgrade": "websocket", "connection": "Upgrade",
            "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==", "sec-websocket-version": version,
        ]
        fields["sec-websocket-protocol"] = subprotocol
        fields.merge(headers) { $1 }
        let lines = fields.map { "\($0.key): \($0.value)\r\n" }.joined()
        try Self.send(
            Array("GET \(path) HTTP/1.1\r\n\(lines)\r\n".utf8) + sentWithHandshake, on: socket)
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            head += try Self.read(1, on: socket)
        }
        self.socket = socket
        let text = String(decoding: head, as: UTF8.self)
        self.head = text.lowercased()
        headerNames = text.split(separator: "\r\n").dropFirst().map { line in
            String(line.prefix { $0 != ":" })
        }
    }

    deinit { Glibc.close(socket) }

    /// Aborts the connection, like a process that is killed.
    package func abort() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(
            socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        shutdown(socket, Int32(SHUT_RDWR))
    }

    // MARK: Sending

    package func send(_ text: String) throws { try send(frame(0x1, Array(text.utf8))) }

    package func send(_ bytes: [UInt8]) throws { try Self.send(bytes, on: socket) }

    package func close(_ code: Int) throws {
        try send(frame(0x8, [UInt8(code >> 8), UInt8(code & 255)]))
    }

    /// Encodes a frame.
    package func frame(
        _ opcode: UInt8, _ payload: [UInt8], isFinal: Bool = true, isMasked: Bool = true
    ) -> [UInt8] { Self.frame(opcode, payload, isFinal: isFinal, isMasked: isMasked) }

    package static func frame(
        _ opcode: UInt8, _ payload: [UInt8], isFinal: Bool = true, isMasked: Bool = true
    ) -> [UInt8] {
        var bytes = [(isFinal ? 0x80 : 0) | opcode]
        let mask: UInt8 = isMasked ? 0x80 : 0
        switch payload.count {
        case 0..<126: bytes.append(mask | UInt8(payload.count))
        case 126..<65536:
            bytes += [mask | 126, UInt8(payload.count >> 8), UInt8(payload.count & 255)]
        default:
            bytes.append(mask | 127)
            bytes += (0..<8).reversed().map { UInt8(truncatingIfNeeded: payload.count >> ($0 * 8)) }
        }
        guard isMasked else { return bytes + payload }
        let key: [UInt8] = [0x12, 0x34, 0x56, 0x78]
        return bytes + key + payload.enumerated().map { $1 ^ key[$0 & 3] }
    }

    // MARK: Receiving

    /// Receives the next frame. The server never sends fragmented messages.
    package func receive() throws -> Frame {
        guard let first = try? Self.read(2, on: socket) else { return .end }
        var count = Int(first[1] & 0x7F)
        if count == 126 {
            count = try Self.read(2, on: socket).reduce(0) { $0 << 8 | Int($1) }
        } else if count == 127 {
            count = try Self.read(8, on: socket).reduce(0) { $0 << 8 | Int($1) }
        }
        let payload = count > 0 ? try Self.read(count, on: socket) : []
        switch first[0] & 0x0F {
        case 0x1: return .text(String(decoding: payload, as: UTF8.self))
        case 0x8:
            let code = payload.prefix(2).reduce(0) { $0 << 8 | Int($1) }
            return .close(
                code: code, reason: String(decoding: payload.dropFirst(2), as: UTF8.self))
        case 0x9: return .ping
        case 0xA: return .pong(String(decoding: payload, as: UTF8.self))
        default: throw Failure(description: "unexpected opcode \(first[0] & 0x0F)")
        }
    }

    /// Receives the next text message. Answers pings and ignores pongs.
    package func message() throws -> String {
        while true {
            switch try receive() {
            case .text(let text): return text
            case .ping: try send(frame(0xA, []))
            case .pong: continue
            case .close(let code, let reason):
                throw Failure(description: "closed: \(code) \(reason)")
            case .end: throw Failure(description: "closed without a close frame")
            }
        }
    }

    /// Receives frames until the connection is closed. Returns the close code, or 0 if there is no close frame.
    package func closeCode() throws -> Int { try closing().code }

    /// Receives frames until the connection is closed. Returns the close code and the reason. The code is 0 if there is
    /// no close frame.
    package func closing() throws -> (code: Int, reason: String) {
        while true {
            switch try receive() {
            case .close(let code, let reason): return (code, reason)
            case .end: return (0, "")
            case .text, .ping, .pong: continue
            }
        }
    }

    /// Sends `connection_init` and waits for `connection_ack` (graphql-transport-ws).
    package func initialize(token: String? = nil) throws {
        let payload = token.map { #","payload":{"Authorization":"Bearer \#($0)"}"# } ?? ""
        try send(#"{"type":"connection_init"\#(payload)}"#)
        let response = try message()
        guard response == #"{"type":"connection_ack"}"# else {
            throw Failure(description: response)
        }
    }

    private static func send(_ bytes: [UInt8], on socket: Int32) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failure(description: "send: errno \(errno)") }
            rest = rest.dropFirst(count)
        }
    }

    private static func read(_ count: Int, on socket: Int32) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: min(count, 1 << 16))
        while bytes.count < count {
            let read = recv(socket, &chunk, min(chunk.count, count - bytes.count), 0)
            guard read > 0 else {
                throw Failure(description: read == 0 ? "closed" : "receive: errno \(errno)")
            }
            bytes += chunk[..<read]
        }
        return bytes
    }
}
