import Glibc

/// Returns the contents of a file that the operator has named.
///
/// - Throws: A `Failure` with the system's reason, such as "No such file or directory".
func readFile(_ path: String) throws(Failure) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw unreadable(path, errno) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var status = stat()
    if fstat(descriptor, &status) == 0, status.st_size > 0 {
        bytes.reserveCapacity(Int(status.st_size))
    }
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
        let count = read(descriptor, &chunk, chunk.count)
        if count == 0 { return bytes }
        if count < 0 {
            if errno == EINTR { continue }
            throw unreadable(path, errno)
        }
        bytes += chunk[..<count]
    }
}

private func unreadable(_ path: String, _ code: Int32) -> Failure {
    Failure("\(path) cannot be read: \(String(cString: strerror(code)))")
}
