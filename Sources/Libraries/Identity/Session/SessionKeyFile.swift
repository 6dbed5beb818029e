import Glibc

/// An error of reading, creating, or replacing the session key file.
package enum SessionKeysError: Error, Equatable, Sendable {
    /// The line with this number, counted from 1, is not a valid key.
    case malformed(line: Int)
    /// The file has no signing key or no sealing key.
    case incomplete
    /// Other users of the machine can read the file. Run `chmod 600` on it.
    case readableByOthers
    case tooLong
    /// A system call failed with this error number.
    case system(errno: Int32)
    /// `create` found an existing file.
    case exists
    /// `replace` may not give the new file the owner and the group of the old one.
    case cannotKeepOwner
}

extension SessionKeysError: CustomStringConvertible {
    /// A message for the operator, to be shown together with the path of the file.
    package var description: String {
        switch self {
        case .malformed(let line): "line \(line) is not a valid key"
        case .incomplete: "the file must contain a signing key and a sealing key"
        case .readableByOthers: "other users can access the file; run chmod 600 on it"
        case .tooLong: "the file is larger than 64 KiB"
        case .system(let code): String(cString: strerror(code))
        case .exists: "the file already exists"
        case .cannotKeepOwner:
            "the new file cannot have the owner and group of the old one; run the command as root or as the owner"
        }
    }
}

extension SessionKeys {
    private static let fileBytesMax = 64 << 10

    /// Reads the key file.
    ///
    /// - Throws: `.readableByOthers` if users other than its owner and group have access to the file.
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

    /// Creates a key file that only its owner can read.
    ///
    /// If root creates it, it belongs to the owner of its folder, so that a server that runs as that user can read it.
    ///
    /// - Throws: `.exists` if there is a file, so that keys are never overwritten by accident.
    package func create(file path: String) throws(SessionKeysError) {
        let staged = try stage(beside: path)
        // Unlike rename, link fails if the name exists.
        let code = link(staged, path) == 0 ? 0 : errno
        unlink(staged)
        guard code == 0 else { throw code == EEXIST ? .exists : .system(errno: code) }
        try syncFolder(of: path)
    }

    /// Replaces the key file atomically: a reader sees either the old keys or the new ones.
    ///
    /// The new file has the owner, the group, and the permissions of the old one, so that a running server can still read it
    /// when root replaces it.
    ///
    /// - Throws: `.cannotKeepOwner` if the caller is neither root nor the owner of the file.
    package func replace(file path: String) throws(SessionKeysError) {
        var status = stat()
        guard stat(path, &status) == 0 else { throw .system(errno: errno) }
        let staged = try stage(beside: path)
        guard chown(staged, status.st_uid, status.st_gid) == 0,
            chmod(staged, status.st_mode & 0o770) == 0
        else {
            unlink(staged)
            throw .cannotKeepOwner
        }
        guard rename(staged, path) == 0 else {
            let code = errno
            unlink(staged)
            throw .system(errno: code)
        }
        try syncFolder(of: path)
    }

    /// Writes and syncs the text to a temporary file in the same folder.
    private func stage(beside path: String) throws(SessionKeysError) -> String {
        let staged = "\(path).\(lowercaseHex(randomBytes(6)))"
        let file = Glibc.open(staged, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .system(errno: errno) }
        if geteuid() == 0 {
            var folder = stat()
            // A file system that refuses this leaves the file to root, and `doctor` reports it.
            if stat(Self.folder(of: path), &folder) == 0 {
                _ = fchown(file, folder.st_uid, folder.st_gid)
            }
        }
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

    private static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    }

    private func syncFolder(of path: String) throws(SessionKeysError) {
        let handle = Glibc.open(Self.folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard handle >= 0 else { throw .system(errno: errno) }
        defer { close(handle) }
        guard fsync(handle) == 0 else { throw .system(errno: errno) }
    }
}
