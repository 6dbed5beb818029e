import Glibc

/// Why the key file cannot be used.
package enum SessionKeysError: Error, Equatable, Sendable {
    case malformed(line: Int)
    /// No key that signs, or none that seals.
    case incomplete
    /// Everybody on the machine may read it: `chmod 600`.
    case readableByOthers
    case tooLong
    /// The system's error number of `open`, `read`, `write` or `rename`.
    case system(errno: Int32)
    /// `create` found a file there.
    case exists
}

extension SessionKeys {
    private static let fileBytesMax = 64 << 10

    /// Reads the key file.
    ///
    /// - Throws: `.readableByOthers` unless the file is closed to all but its owner and group.
    package init(file path: String) throws(SessionKeysError) {
        let file = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw .system(errno: errno) }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw .system(errno: errno) }
        guard status.st_mode & 0o007 == 0 else { throw .readableByOthers }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(file, &chunk, chunk.count)
            if count < 0 {
                if errno == EINTR { continue }
                throw .system(errno: errno)
            }
            if count == 0 { break }
            bytes.append(contentsOf: chunk[..<count])
            guard bytes.count <= Self.fileBytesMax else { throw .tooLong }
        }
        try self.init(text: String(decoding: bytes, as: UTF8.self))
    }

    /// Writes a new key file for its owner alone.
    ///
    /// - Throws: `.exists` when there is one: keys are never overwritten by accident.
    package func create(file path: String) throws(SessionKeysError) {
        let staged = try stage(beside: path)
        // link, unlike rename, fails when the name is taken.
        let code = link(staged, path) == 0 ? 0 : errno
        unlink(staged)
        guard code == 0 else { throw code == EEXIST ? .exists : .system(errno: code) }
        try syncFolder(of: path)
    }

    /// Replaces the key file: a reader sees the old keys or the new ones.
    package func replace(file path: String) throws(SessionKeysError) {
        let staged = try stage(beside: path)
        guard rename(staged, path) == 0 else {
            let code = errno
            unlink(staged)
            throw .system(errno: code)
        }
        try syncFolder(of: path)
    }

    /// Writes and syncs the text under another name in the same folder.
    private func stage(beside path: String) throws(SessionKeysError) -> String {
        let staged = "\(path).\(lowercaseHex(randomBytes(6)))"
        let file = Glibc.open(staged, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .system(errno: errno) }
        let bytes = Array(text.utf8)
        var written = 0
        var failure: Int32 = 0
        while written < bytes.count, failure == 0 {
            let count = bytes[written...].withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
            if count >= 0 { written += count } else if errno != EINTR { failure = errno }
        }
        if failure == 0, fsync(file) != 0 { failure = errno }
        close(file)
        guard failure == 0 else {
            unlink(staged)
            throw .system(errno: failure)
        }
        return staged
    }

    private func syncFolder(of path: String) throws(SessionKeysError) {
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let handle = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard handle >= 0 else { throw .system(errno: errno) }
        defer { close(handle) }
        guard fsync(handle) == 0 else { throw .system(errno: errno) }
    }
}
