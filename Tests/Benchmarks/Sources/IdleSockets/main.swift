import Glibc

// Opens many WebSockets with one subscription each to a server on the loopback interface. Prints
// the resident memory of the server process while they are open and after they have been closed.
//
// Usage: `IdleSockets PORT TOKEN PID [COUNT]`

func fail(_ message: String) -> Never {
    print("IdleSockets: \(message)")
    exit(1)
}

let arguments = CommandLine.arguments
guard arguments.count >= 4, let port = UInt16(arguments[1]), let pid = Int(arguments[3]),
    let count = arguments.count > 4 ? Int(arguments[4]) : 10_000
else { fail("usage: IdleSockets PORT TOKEN PID [COUNT]") }
let token = arguments[2]

/// Returns the resident memory of the server in MB.
func residentMB() -> Int {
    guard let file = fopen("/proc/\(pid)/status", "r") else {
        fail("process \(pid) does not exist")
    }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, 256, file) != nil {
        let text = String(
            decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        if text.hasPrefix("VmRSS:") {
            return (Int(text.filter(\.isNumber)) ?? 0) / 1024
        }
    }
    return 0
}

func frame(_ text: String) -> [UInt8] {
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

func send(_ bytes: [UInt8], on socket: Int32) {
    guard Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
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

func open() -> Int32 {
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
    let handshake =
        "GET /graphql HTTP/1.1\r\nhost: localhost\r\nupgrade: websocket\r\nconnection: upgrade\r\n"
        + "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n"
        + "sec-websocket-protocol: graphql-transport-ws\r\n\r\n"
    send(Array(handshake.utf8), on: socket)
    expect("\r\n\r\n", on: socket)
    send(
        frame(#"{"type":"connection_init","payload":{"Authorization":"Bearer \#(token)"}}"#),
        on: socket)
    expect("connection_ack", on: socket)
    send(
        frame(
            #"{"id":"1","type":"subscribe","payload":{"query":"subscription { changes { cursor kind id } }"}}"#
        ), on: socket)
    return socket
}

let before = residentMB()
let sockets = (0..<count).map { _ in open() }
sleep(3)
let during = residentMB()
print(
    "\(count) sockets: \(during) MB, \(before) MB before, \((during - before) * 1024 / count) KB each"
)
for socket in sockets { close(socket) }
sleep(5)
print("after closing them: \(residentMB()) MB")
