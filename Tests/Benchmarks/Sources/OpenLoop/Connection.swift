import Glibc

/// An HTTP/1.1 connection with at most one request in flight.
struct Connection {
    let socket: Int32
    private var due = 0.0
    private var received: [UInt8] = []

    init(port: UInt16) {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard socket >= 0 else { fail("socket: errno \(errno)") }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let result = withUnsafeBytes(of: &address) { [socket] in
            connect(
                socket, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self),
                socklen_t($0.count))
        }
        guard result == 0 else { fail("connect to port \(port): errno \(errno)") }
        var noDelay: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &noDelay, socklen_t(4))
    }

    mutating func send(_ request: [UInt8], due: Double) {
        self.due = due
        received.removeAll(keepingCapacity: true)
        guard Glibc.send(socket, request, request.count, Int32(MSG_NOSIGNAL)) == request.count
        else { fail("send: errno \(errno)") }
    }

    /// Reads what has arrived, and returns the response if it is complete.
    mutating func receive() -> (due: Double, isSuccess: Bool)? {
        let count = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 65_536) { chunk in
            let count = recv(socket, chunk.baseAddress, chunk.count, 0)
            if count > 0 { received += chunk[..<count] }
            return count
        }
        guard count > 0 else { fail("the server closed a connection") }
        guard let length = responseLength, received.count >= length else { return nil }
        let isSuccess =
            received.starts(with: Array("HTTP/1.1 200".utf8))
            && !received.contains(#"{"errors":"#.utf8)
        return (due, isSuccess)
    }

    /// The length of the response with its head. nil if the head is not complete.
    private var responseLength: Int? {
        var end: Int?
        for index in received.indices.dropLast(3)
        where received[index] == 13 && received[index + 2] == 13 && received[index + 3] == 10 {
            end = index
            break
        }
        guard let end else { return nil }
        for line in String(decoding: received[..<end], as: UTF8.self).split(separator: "\r\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2, parts[0].lowercased() == "content-length",
                let length = Int(parts[1].filter(\.isNumber))
            {
                return end + 4 + length
            }
        }
        fail("a response has no Content-Length")
    }
}

/// Returns the requests of a file of lines TOKEN <tab> BODY.
func readRequests(_ path: String) -> [[UInt8]] {
    guard let file = fopen(path, "r") else { fail("cannot open \(path): errno \(errno)") }
    defer { fclose(file) }
    var requests: [[UInt8]] = []
    var line: UnsafeMutablePointer<CChar>?
    var capacity = 0
    defer { free(line) }
    while getline(&line, &capacity, file) > 0, let text = line {
        let parts = String(cString: text).split(separator: "\t", maxSplits: 1)
        guard parts.count == 2 else { fail("\(path): a line is not TOKEN <tab> BODY") }
        let body = parts[1].filter { $0 != "\n" }
        requests.append(
            Array(
                ("POST /graphql HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(parts[0])\r\n"
                    + "Content-Type: application/json\r\nAccept: application/json\r\n"
                    + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)").utf8))
    }
    guard !requests.isEmpty else { fail("\(path) contains no request") }
    return requests
}
