import Glibc

/// An open folder; all names below it are looked up from here, and no symbolic link is followed.
final class Folder: Sendable {
    let descriptor: Int32

    private init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// A folder by its path, which the operator has chosen and which may contain links; made where it is missing.
    static func root(_ path: String) throws(ObjectError) -> Folder {
        var made = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            made += part + "/"
            mkdir(made, 0o700)
        }
        let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .failed("opening \(path)", errno: errno) }
        return Folder(descriptor: descriptor)
    }

    /// A folder in this one; nil where there is none.
    func folder(_ name: String) throws(ObjectError) -> Folder? {
        let found = openat(
            descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        if found >= 0 { return Folder(descriptor: found) }
        if [ENOENT, ENOTDIR, ELOOP].contains(errno) { return nil }
        throw .failed("opening the folder \(name)", errno: errno)
    }

    /// A folder in this one, made durably where it is missing.
    func makeFolder(_ name: String) throws(ObjectError) -> Folder {
        if mkdirat(descriptor, name, 0o700) == 0 {
            try synchronize()
        } else if errno != EEXIST {
            throw ObjectError(errno, "making the folder \(name)")
        }
        guard let folder = try folder(name) else {
            throw .failed("opening the folder \(name)", errno: ENOENT)
        }
        return folder
    }

    /// A file in this folder for reading; nil where there is no regular file of that name.
    func open(_ name: String) throws(ObjectError) -> OpenObject? {
        // Not blocking: a pipe of that name would wait for a writer.
        let file = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        if file >= 0 { return OpenObject(descriptor: file) }
        if [ENOENT, ELOOP, ENOTDIR].contains(errno) { return nil }
        throw .failed("opening \(name)", errno: errno)
    }

    /// Makes a file that was not there and brings its bytes to the disk.
    func create(_ name: String, _ bytes: [UInt8]) throws(ObjectError) {
        let file = openat(
            descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw ObjectError(errno, "making \(name)") }
        defer { close(file) }
        var start = 0
        while start < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.write(file, $0.baseAddress?.advanced(by: start), $0.count - start)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw ObjectError(errno, "writing \(name)") }
            start += count
        }
        // What it says once may not be asked again: the kernel drops the pages that failed.
        guard fsync(file) == 0 else { throw ObjectError(errno, "synchronizing \(name)") }
    }

    func rename(_ name: String, to target: Folder, _ newName: String) throws(ObjectError) {
        guard renameat(descriptor, name, target.descriptor, newName) == 0 else {
            throw ObjectError(errno, "renaming \(name)")
        }
    }

    /// Gives a file a second name, which nothing has.
    func link(_ name: String, to target: Folder, _ newName: String) throws(ObjectError) {
        guard linkat(descriptor, name, target.descriptor, newName, 0) == 0 else {
            throw ObjectError(errno, "naming \(newName)")
        }
    }

    /// Removes a file, or an empty folder. What is gone is no error, nor is a folder that is not empty.
    func remove(_ name: String, isFolder: Bool = false) throws(ObjectError) {
        guard unlinkat(descriptor, name, isFolder ? AT_REMOVEDIR : 0) != 0 else { return }
        if errno == ENOENT || (isFolder && (errno == ENOTEMPTY || errno == EEXIST)) { return }
        throw .failed("removing \(name)", errno: errno)
    }

    /// Brings the names in it to the disk.
    func synchronize() throws(ObjectError) {
        guard fsync(descriptor) == 0 else { throw ObjectError(errno, "synchronizing a folder") }
    }

    /// The names in it, but `.` and `..`, in no order.
    func names() throws(ObjectError) -> [String] {
        let copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0, let stream = fdopendir(copy) else {
            throw .failed("listing a folder", errno: errno)
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Of a regular file; nil for what is none.
    func status(of name: String) -> stat? {
        var status = stat()
        guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0,
            status.st_mode & S_IFMT == S_IFREG
        else { return nil }
        return status
    }

    /// Locks it for this process until it ends; false where another one has it.
    func lock() -> Bool { flock(descriptor, LOCK_EX | LOCK_NB) == 0 }

    /// Waits until nobody has a turn here, of this process or another; the turn lasts as long as what is returned.
    func waitForTurn() throws(ObjectError) -> Folder {
        // Opened anew: a lock is of the opening, and this folder's is shared.
        guard let turn = try folder(".") else { throw .failed("opening a folder", errno: ENOENT) }
        while flock(turn.descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw .failed("locking a folder", errno: errno) }
        }
        return turn
    }
}

extension ObjectError {
    fileprivate init(_ code: Int32, _ what: String) {
        self = [ENOSPC, EDQUOT].contains(code) ? .full : .failed(what, errno: code)
    }
}
