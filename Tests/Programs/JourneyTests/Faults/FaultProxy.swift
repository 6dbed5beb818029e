import Foundation
import Glibc
import Synchronization

/// Forwards the connections of Bookplate's server to PostgreSQL. It can cut a connection after any message of the
/// protocol, and hold all messages for a while, as a broken network does.
///
/// In this file, the client is Bookplate's server, and the server is PostgreSQL.
final class FaultProxy: Sendable {
    /// Ends one connection after a number of messages in one direction, counted over all connections.
    struct Cut: Sendable {
        /// Whether messages of PostgreSQL are counted, and not those to it.
        var isFromServer: Bool
        /// The connection of the last of these messages ends.
        var messagesLeft: Int
    }

    private struct State {
        /// The path of PostgreSQL's socket.
        var target: String
        var cut: Cut?
        var isHolding = false
        var cutCount = 0
    }

    /// The folder of the socket, which takes the place of the host in a URL.
    let folder: String
    private let listener: Int32
    private let state: Mutex<State>

    /// - Parameter target: The path of PostgreSQL's socket. The proxy's socket has the same name in another folder.
    init(to target: String) throws {
        state = Mutex(State(target: target))
        folder = try Program.makeFolder()
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        let name = target.split(separator: "/").last ?? ""
        let isListening = Self.withAddress("\(folder)/\(name)") {
            bind(listener, $0, $1) == 0 && listen(listener, 64) == 0
        }
        guard isListening else { throw Program.Failure(description: "listen: errno \(errno)") }
        Thread.detachNewThread { [self] in accept() }
    }

    /// Ends the thread that accepts connections, and with it the last reference to this object.
    func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

    deinit { close(listener) }

    /// The number of connections that were cut after a message.
    var cutCount: Int { state.withLock { $0.cutCount } }

    func cut(_ cut: Cut?) { state.withLock { $0.cut = cut } }

    /// Forwards new connections to another socket.
    func setTarget(_ target: String) { state.withLock { $0.target = target } }

    func setHolding(_ isHolding: Bool) { state.withLock { $0.isHolding = isHolding } }

    private func accept() {
        while case let client = Glibc.accept(listener, nil, nil), client >= 0 {
            let server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            let target = state.withLock { $0.target }
            guard Self.withAddress(target, { connect(server, $0, $1) == 0 }) else {
                close(client)
                close(server)
                continue
            }
            let connection = Connection(client: client, server: server)
            for isFromServer in [false, true] {
                Thread.detachNewThread { [self] in
                    forward(connection, isFromServer: isFromServer)
                }
            }
        }
    }

    /// The two sockets of a connection. They are closed when both directions have ended.
    private final class Connection: Sendable {
        let client: Int32
        let server: Int32

        init(client: Int32, server: Int32) {
            self.client = client
            self.server = server
        }

        deinit {
            close(client)
            close(server)
        }

        func end() {
            shutdown(client, Int32(SHUT_RDWR))
            shutdown(server, Int32(SHUT_RDWR))
        }
    }

    private func forward(_ connection: Connection, isFromServer: Bool) {
        defer { connection.end() }
        let (source, sink) =
            isFromServer
            ? (connection.server, connection.client) : (connection.client, connection.server)
        var messages = MessageBoundaries(isFromServer: isFromServer)
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = recv(source, &chunk, chunk.count, 0), count > 0 {
            while state.withLock({ $0.isHolding }) { usleep(5_000) }
            for end in messages.ends(in: chunk[..<count]) where isCut(isFromServer) {
                Self.send(chunk[..<end], on: sink)
                return
            }
            guard Self.send(chunk[..<count], on: sink) else { return }
        }
    }

    /// Counts a message, and returns whether the connection ends after it.
    private func isCut(_ isFromServer: Bool) -> Bool {
        state.withLock { state in
            guard state.cut?.isFromServer == isFromServer else { return false }
            state.cut?.messagesLeft -= 1
            guard let left = state.cut?.messagesLeft, left <= 0 else { return false }
            state.cut = nil
            state.cutCount += 1
            return true
        }
    }

    @discardableResult
    private static func send(_ bytes: ArraySlice<UInt8>, on socket: Int32) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private static func withAddress<Result>(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { bytes in
            bytes.copyBytes(from: path.utf8.prefix(bytes.count - 1))
        }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}

/// Finds where the messages of PostgreSQL's protocol end in a stream of bytes.
struct MessageBoundaries {
    /// The type and the length of the next message, as far as they have arrived.
    private var header: [UInt8] = []
    /// The first message of a client has no type.
    private var headerBytes: Int
    /// The bytes of the message's body that have not arrived. nil before its length is known.
    private var left: Int?

    init(isFromServer: Bool) { headerBytes = isFromServer ? 5 : 4 }

    /// Returns the index after the last byte of each message that ends in the next bytes of the stream.
    mutating func ends(in bytes: ArraySlice<UInt8>) -> [Int] {
        var ends: [Int] = []
        var index = bytes.startIndex
        while index < bytes.endIndex {
            if left == nil {
                header.append(bytes[index])
                index += 1
                guard header.count == headerBytes else { continue }
                // The length includes its own four bytes.
                left = header.suffix(4).reduce(0) { $0 << 8 | Int($1) } - 4
            }
            let available = min(left ?? 0, bytes.endIndex - index)
            index += available
            left = (left ?? 0) - available
            guard left == 0 else { continue }
            ends.append(index)
            header = []
            headerBytes = 5
            left = nil
        }
        return ends
    }
}
