import Glibc

/// Requests at a constant rate over a fixed number of connections.
struct Load {
    private var connections: [Connection]
    private var idle: [Int]
    private let requests: [[UInt8]]
    private var times: [Double] = []
    private var failed = 0

    init(port: UInt16, connections count: Int, requests: [[UInt8]]) {
        connections = (0..<count).map { _ in Connection(port: port) }
        idle = Array(0..<count)
        self.requests = requests
    }

    /// Sends requests until the time is over, and waits for all responses.
    mutating func run(rate: Double, seconds: Double) {
        let count = Int(rate * seconds)
        times.reserveCapacity(count)
        let start = now()
        var sent = 0
        while times.count < count {
            while sent < count, !idle.isEmpty, now() >= start + Double(sent) / rate {
                let due = start + Double(sent) / rate
                connections[idle.removeLast()].send(requests[sent % requests.count], due: due)
                sent += 1
            }
            let wait =
                sent < count && !idle.isEmpty ? max(0, start + Double(sent) / rate - now()) : 1
            receive(waitingAtMost: wait)
        }
    }

    private mutating func receive(waitingAtMost seconds: Double) {
        var set = fd_set()
        withUnsafeMutableBytes(of: &set) { bits in
            for connection in connections {
                bits[Int(connection.socket) / 8] |= 1 << UInt8(connection.socket % 8)
            }
        }
        var timeout = timespec(
            tv_sec: Int(seconds), tv_nsec: Int((seconds - seconds.rounded(.down)) * 1e9))
        // Unlike `poll`, `pselect` waits less than a millisecond if necessary.
        guard pselect(Int32(FD_SETSIZE), &set, nil, nil, &timeout, nil) > 0 else { return }
        for index in connections.indices {
            let socket = connections[index].socket
            let isReady = withUnsafeBytes(of: set) {
                $0[Int(socket) / 8] & (1 << UInt8(socket % 8)) != 0
            }
            guard isReady, let response = connections[index].receive() else { continue }
            times.append(now() - response.due)
            if !response.isSuccess { failed += 1 }
            idle.append(index)
        }
    }

    /// The results as JSON.
    var summary: String {
        let sorted = times.sorted()
        func milliseconds(_ share: Double) -> String {
            let position = min(sorted.count - 1, Int(Double(sorted.count) * share))
            let hundredths = Int(sorted[position] * 100_000)
            return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
        }
        return """
            {"requests": \(times.count), "failed": \(failed), "p50": \(milliseconds(0.5)), \
            "p99": \(milliseconds(0.99)), "p99.9": \(milliseconds(0.999)), "max": \(milliseconds(1))}
            """
    }
}

/// Returns the time of a monotonic clock in seconds.
func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
