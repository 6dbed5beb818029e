import Glibc

/// Returns the resident memory of a process in MB.
func residentMB(of pid: Int) -> Int {
    let line = lines(of: "/proc/\(pid)/status").first { $0.hasPrefix("VmRSS:") }
    return (line.flatMap { Int($0.filter(\.isNumber)) } ?? 0) / 1024
}

/// Returns the CPU time that a process has used in user and kernel mode, in seconds.
func cpuSeconds(of pid: Int) -> Double {
    // The name of the program, in parentheses, may contain spaces. The times are the 12th and 13th fields after it.
    let fields =
        lines(of: "/proc/\(pid)/stat").joined().split(separator: ")").last?
        .split(separator: " ") ?? []
    guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else {
        fail("cannot read the CPU time of process \(pid)")
    }
    return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
}

private func lines(of path: String) -> [String] {
    guard let file = fopen(path, "r") else { fail("cannot open \(path): errno \(errno)") }
    defer { fclose(file) }
    var lines: [String] = []
    var line = [CChar](repeating: 0, count: 4096)
    while fgets(&line, Int32(line.count), file) != nil {
        lines.append(
            String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }
    return lines
}

/// Returns the time of a monotonic clock in seconds.
func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
