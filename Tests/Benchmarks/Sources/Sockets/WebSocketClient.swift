import Glibc

func fail(_ message: String) -> Never {
    print("Sockets: \(message)")
    exit(1)
}

/// Opens a connection to a port of the loopback interface.
func connectToServer(_ port: UInt16) -> Int32 {
    let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard socket >= 0 else { fail("socket: errno \(errno)") }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    let result = withUnsafeBytes(of: &address) {
        connect(socket, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count))
    }
    guard result == 0 else { fail("connect: errno \(errno)") }
    return socket
}

/// Opens a WebSocket that subscribes to the changes of a library.
func subscribe(_ port: UInt16, _ token: String) -> Int32 {
    let socket = connectToServer(port)
    let handshake =
        "GET /graphql HTTP/1.1\r\nhost: localhost\r\nupgrade: websocket\r\nconnection: upgrade\r\n"
        + "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n"
        + "sec-websocket-protocol: graphql-transport-ws\r\n\r\n"
    sendAll(Array(handshake.utf8), on: socket)
    expect("\r\n\r\n", on: socket)
    sendAll(
        frame(#"{"type":"connection_init","payload":{"Authorization":"Bearer \#(token)"}}"#),
        on: socket)
    expect("connection_ack", on: socket)
    sendAll(
        frame(
            #"{"id":"1","type":"subscribe","payload":{"query":"subscription { changes { cursor kind nodeId } }"}}"#
        ), on: socket)
    return socket
}

/// A masked text frame.
private func frame(_ text: String) -> [UInt8] {
    let payload = Array(text.utf8)
    let key: [UInt8] = [1, 2, 3, 4]
    var bytes: [UInt8] = [0x81]
    if payload.count < 126 {
        bytes.append(0x80 | UInt8(payload.count))
    } else {
        bytes += [0x80 | 126, UInt8(payload.count >> 8), UInt8(payload.count & 255)]
    }
    return bytes + key + payload.enumerated().map { $1 ^ key[$0 & 3] }
}

func sendAll(_ bytes: [UInt8], on socket: Int32) {
    guard send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
        fail("send: errno \(errno)")
    }
}

/// Reads until the received data contains `text`.
func expect(_ text: String, on socket: Int32) {
    var read = ""
    var chunk = [UInt8](repeating: 0, count: 4096)
    while !read.contains(text) {
        let bytes = recv(socket, &chunk, chunk.count, 0)
        guard bytes > 0 else { fail("expected '\(text)', received '\(read)'") }
        read += String(decoding: chunk[..<bytes], as: UTF8.self)
    }
}
