import Glibc

/// An open directory. Names are resolved relative to it, and symbolic links are not followed.
final class Folder: Sendable {
    let descriptor: Int32

    private init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Opens a folder by its path, and creates it if it is missing. The operator configures the path, so it may
    /// contain symbolic links.
    static func root(_ path: String) throws(ObjectError) -> Folder {
        var made = path.hasPrefix("/") ? "/" : "./"
        for part in path.split(separator: "/") {
            let parent = made
            made += part + "/"
            if mkdir(made, 0o700) == 0 {
                try existing(parent).setOwner(of: try existing(made))
            }
        }
        return try existing(path)
    }

    /// Opens a folder by its path.
    static func existing(_ path: String) throws(ObjectError) -> Folder {
        let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .failed("opening \(path)", errno: errno) }
        return Folder(descriptor: descriptor)
    }

    /// Gives what root has created to the owner of the enclosing folder, because a server that runs as that user must be
    /// able to use what an operator's command creates as root.
    ///
    /// File systems may refuse this. `foreignEntry` finds what has another owner.
    private func setOwner(of created: Int32) {
        guard geteuid() == 0 else { return }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return }
        _ = fchown(created, status.st_uid, status.st_gid)
    }

    // The argument keeps the folder open during the call.
    private func setOwner(of created: Folder) { setOwner(of: created.descriptor) }

    /// Returns the name of a subfolder or file that does not belong to the owner of this folder; nil if there is none.
    func foreignEntry() throws(ObjectError) -> String? {
        var own = stat()
        guard fstat(descriptor, &own) == 0 else { throw .failed("opening a folder", errno: errno) }
        return try names().first { name in
            var status = stat()
            return fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0
                && status.st_uid != own.st_uid
        }
    }

    /// Opens a subfolder; nil if there is none.
    func folder(_ name: String) throws(ObjectError) -> Folder? {
        let found = openat(
            descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        if found >= 0 { return Folder(descriptor: found) }
        if [ENOENT, ENOTDIR, ELOOP].contains(errno) { return nil }
        throw .failed("opening the folder \(name)", errno: errno)
    }

    /// Opens a subfolder, and creates it durably if it is missing.
    func makeFolder(_ name: String) throws(ObjectError) -> Folder {
        let isNew = mkdirat(descriptor, name, 0o700) == 0
        if isNew {
            try synchronize()
        } else if errno != EEXIST {
            throw ObjectError(errno, "creating the folder \(name)")
        }
        guard let folder = try folder(name) else {
            throw .failed("opening the folder \(name)", errno: ENOENT)
        }
        if isNew { setOwner(of: folder) }
        return folder
    }

    /// Opens a file for reading; nil if there is no regular file with this name.
    func open(_ name: String) throws(ObjectError) -> OpenObject? {
        // O_NONBLOCK, because opening a named pipe would otherwise wait for a writer.
        let file = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        if file >= 0 { return OpenObject(descriptor: file) }
        if [ENOENT, ELOOP, ENOTDIR].contains(errno) { return nil }
        throw .failed("opening \(name)", errno: errno)
    }

    /// Creates a file, which must not exist, and syncs it to the disk.
    func create(_ name: String, _ bytes: [UInt8]) throws(ObjectError) {
        let file = openat(
            descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw ObjectError(errno, "creating \(name)") }
        defer { close(file) }
        setOwner(of: file)
        var start = 0
        while start < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.write(file, $0.baseAddress?.advanced(by: start), $0.count - start)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw ObjectError(errno, "writing \(name)") }
            start += count
        }
        // A failed fsync must not be retried: the kernel drops the pages that could not be written.
        guard fsync(file) == 0 else { throw ObjectError(errno, "synchronizing \(name)") }
    }

    func rename(_ name: String, to target: Folder, _ newName: String) throws(ObjectError) {
        guard renameat(descriptor, name, target.descriptor, newName) == 0 else {
            throw ObjectError(errno, "renaming \(name)")
        }
    }

    /// Creates a hard link with a name that must not exist.
    func link(_ name: String, to target: Folder, _ newName: String) throws(ObjectError) {
        guard linkat(descriptor, name, target.descriptor, newName, 0) == 0 else {
            throw ObjectError(errno, "linking \(newName)")
        }
    }

    /// Removes a file or an empty folder. A missing name or a folder that is not empty is not an error.
    func remove(_ name: String, isFolder: Bool = false) throws(ObjectError) {
        guard unlinkat(descriptor, name, isFolder ? AT_REMOVEDIR : 0) != 0 else { return }
        if errno == ENOENT || (isFolder && (errno == ENOTEMPTY || errno == EEXIST)) { return }
        throw .failed("removing \(name)", errno: errno)
    }

    /// Syncs the folder's entries to the disk.
    func synchronize() throws(ObjectError) {
        guard fsync(descriptor) == 0 else { throw ObjectError(errno, "synchronizing a folder") }
    }

    /// Returns the names in the folder without `.` and `..`, in no particular order.
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

    /// Returns the status of a regular file; nil for anything else.
    func status(of name: String) -> stat? {
        var status = stat()
        guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0,
            status.st_mode & S_IFMT == S_IFREG
        else { return nil }
        return status
    }

    /// Locks the folder until this object is released; false if another process holds the lock.
    func lock() -> Bool { flock(descriptor, LOCK_EX | LOCK_NB) == 0 }

    /// Waits for an exclusive lock on the folder, also against other users in this process. The lock is held as
    /// long as the returned folder.
    func waitForLock() throws(ObjectError) -> Folder {
        // Reopened, because flock belongs to an open file description, and this folder's is shared.
        guard let locked = try folder(".") else { throw .failed("opening a folder", errno: ENOENT) }
        while flock(locked.descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw .failed("locking a folder", errno: errno) }
        }
        return locked
    }
}

extension ObjectError {
    fileprivate init(_ code: Int32, _ what: String) {
        self = [ENOSPC, EDQUOT].contains(code) ? .full : .failed(what, errno: code)
    }
}
