import Glibc

extension FileStore {
    /// With less free space, writes will soon fail.
    package static let freeBytesMin = 1 << 30

    /// The state of a store's root folder.
    package enum RootState: Sendable, Equatable {
        /// The folder does not exist. It can be created if its nearest existing parent is a writable folder.
        case missing(canBeCreated: Bool)
        case notAFolder
        case notWritable
        case writableByAll
        case freeSpaceUnknown
        case usable(freeBytes: Int)
    }

    /// Checks the root folder of a store without changing it.
    package static func rootState(_ path: String) -> RootState {
        var status = stat()
        guard stat(path, &status) == 0 else {
            return .missing(canBeCreated: canBeCreated(path))
        }
        guard status.st_mode & S_IFMT == S_IFDIR else { return .notAFolder }
        guard access(path, R_OK | W_OK | X_OK) == 0 else { return .notWritable }
        guard status.st_mode & S_IWOTH == 0 else { return .writableByAll }
        var space = statvfs()
        guard statvfs(path, &space) == 0 else { return .freeSpaceUnknown }
        return .usable(freeBytes: Int(clamping: UInt64(space.f_bavail) * UInt64(space.f_frsize)))
    }

    private static func canBeCreated(_ path: String) -> Bool {
        var parent = path
        while let slash = parent.lastIndex(of: "/") {
            parent = String(parent[..<slash])
            let folder = parent.isEmpty ? "/" : parent
            var status = stat()
            guard stat(folder, &status) == 0 else { continue }
            return status.st_mode & S_IFMT == S_IFDIR && access(folder, W_OK | X_OK) == 0
        }
        return access(".", W_OK | X_OK) == 0
    }
}
