import Glibc

/// An error of the system while a file was read.
package struct UnreadableFile: Error, CustomStringConvertible {
    package let path: String
    /// The system's reason, such as "No such file or directory".
    package let reason: String

    package var description: String { "\(path) cannot be read: \(reason)" }

    fileprivate init(_ path: String, _ code: Int32) {
        self.path = path
        reason = String(cString: strerror(code))
    }
}

/// Returns the contents of a file.
package func readFile(_ path: String) throws(UnreadableFile) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw UnreadableFile(path, errno) }
    defer { close(descriptor) }
    return try readToEnd(of: descriptor, path)
}

/// Returns what can be read from standard input until its end.
package func readStandardInput() throws(UnreadableFile) -> [UInt8] {
    try readToEnd(of: STDIN_FILENO, "standard input")
}

private func readToEnd(
    of descriptor: Int32, _ path: String
) throws(UnreadableFile) -> [UInt8] {
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
            throw UnreadableFile(path, errno)
        }
        bytes += chunk[..<count]
    }
}
