import Glibc

// Opens many WebSockets with one subscription each to a server on the loopback interface.
//
// Usage:
//
// - `Sockets idle PORT TOKEN PID COUNT` prints the resident memory of the server's process while they are open, and after
//   they have been closed.
// - `Sockets fan-out PORT TOKEN PID COUNT` makes changes that all of them receive. Prints the times until the first and the
//   last of them has received a change, and the CPU time of the server's process for each message.

let arguments = CommandLine.arguments
guard arguments.count == 6, let port = UInt16(arguments[2]), let pid = Int(arguments[4]),
    let count = Int(arguments[5]), count > 0
else { fail("usage: Sockets idle|fan-out PORT TOKEN PID COUNT") }
let token = arguments[3]

switch arguments[1] {
case "idle": measureMemory()
case "fan-out": measureFanOut()
default: fail("unknown measurement '\(arguments[1])'")
}

func measureMemory() {
    let before = residentMB(of: pid)
    let sockets = (0..<count).map { _ in subscribe(port, token) }
    sleep(3)
    let during = residentMB(of: pid)
    print(
        "\(count) sockets: \(during) MB, \(before) MB before, \((during - before) * 1024 / count) KB each"
    )
    for socket in sockets { close(socket) }
    sleep(5)
    print("after closing them: \(residentMB(of: pid)) MB")
}

func measureFanOut() {
    let rounds = 21
    let sockets = (0..<count).map { _ in subscribe(port, token) }
    sleep(1)
    var first: [Double] = []
    var last: [Double] = []
    let cpuBefore = cpuSeconds(of: pid)
    for round in 0..<rounds {
        let start = now()
        makeChange(number: round)
        let times = receiveOne(from: sockets, since: start)
        first.append(times.first)
        last.append(times.last)
    }
    let cpu = (cpuSeconds(of: pid) - cpuBefore) / Double(rounds * count)
    print(
        """
        \(count) subscribers, medians of \(rounds) changes: the first receives a change after \
        \(milliseconds(first)) ms, the last after \(milliseconds(last)) ms; \
        \(Int(cpu * 1e6)) µs of the server's CPU per message
        """)
}

/// Creates a shelf.
func makeChange(number: Int) {
    let socket = connectToServer(port)
    defer { close(socket) }
    let body =
        #"{"query":"mutation { createShelf(input: {name: \"Fan-out \#(pid) \#(number)\"}) { id } }"}"#
    sendAll(
        Array(
            ("POST /graphql HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer \(token)\r\n"
                + "content-type: application/json\r\naccept: application/json\r\n"
                + "content-length: \(body.utf8.count)\r\n\r\n\(body)").utf8), on: socket)
    expect(#""createShelf":{"#, on: socket)
}

/// Waits until each socket has received one message, and returns the seconds until the first and the last of them.
func receiveOne(from sockets: [Int32], since start: Double) -> (first: Double, last: Double) {
    var waiting = sockets.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    var times: [Double] = []
    while !waiting.isEmpty {
        guard poll(&waiting, nfds_t(waiting.count), 10_000) > 0 else {
            fail("\(waiting.count) sockets received no message within 10 s")
        }
        for entry in waiting where entry.revents != 0 {
            expect(#""type":"next""#, on: entry.fd)
            times.append(now() - start)
        }
        waiting.removeAll { $0.revents != 0 }
    }
    return (times[0], times[times.count - 1])
}

func milliseconds(_ times: [Double]) -> String {
    let tenths = Int(times.sorted()[times.count / 2] * 10_000)
    return "\(tenths / 10).\(tenths % 10)"
}
