import Glibc

/// Changes the permissions of files.
enum FileMode {
    /// Removes permissions, given as bits of the file's mode, from a file or folder.
    static func remove(_ bits: mode_t, from path: String) throws(Failure) {
        var status = stat()
        guard stat(path, &status) == 0, chmod(path, status.st_mode & 0o7777 & ~bits) == 0 else {
            throw Failure(
                "the permissions of \(path) cannot be changed: \(String(cString: strerror(errno))). Run the command as the owner of the file, or as root"
            )
        }
    }
}
