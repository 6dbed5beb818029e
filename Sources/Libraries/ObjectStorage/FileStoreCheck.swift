import Glibc

extension FileStore {
    /// With less free space, writes will soon fail.
    package static let freeBytesMin = 1 << 30

    /// With less free space, a few uploads at the same time fail.
    package static let freeBytesUsable = 100 << 20

    /// The state of a store's root folder.
    package enum RootState: Sendable, Equatable {
        /// The folder does not exist. It can be created if its nearest existing parent is a writable folder.
        case missing(canBeCreated: Bool)
        case notAFolder
        case notWritable
        case writableByAll
        /// A folder or file in the store, with its path, does not belong to the owner of the root folder.
        case foreign(String)
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
        if let entry = foreignEntry(path) { return .foreign(entry) }
        return freeBytes(path).map { .usable(freeBytes: $0) } ?? .freeSpaceUnknown
    }

    /// Returns the space for new files in a folder, or in its parent if it does not exist yet; nil if that is not known.
    package static func freeBytes(_ path: String) -> Int? {
        var folder = path
        var space = statvfs()
        while statvfs(folder, &space) != 0 {
            guard errno == ENOENT, folder != ".", folder != "/" else { return nil }
            let slash = folder.lastIndex(of: "/")
            folder = slash.map { $0 == folder.startIndex ? "/" : String(folder[..<$0]) } ?? "."
        }
        return Int(clamping: UInt64(space.f_bavail) * UInt64(space.f_frsize))
    }

    /// Looks at the folders of the first levels, down to those of users and the files in a few of them: the work does not
    /// grow with the number of covers.
    private static func foreignEntry(_ path: String) -> String? {
        var level = [path]
        for _ in 0..<levelsChecked {
            var next: [String] = []
            for path in level.prefix(foldersCheckedMax) {
                guard let folder = try? Folder.existing(path) else { continue }
                if let name = try? folder.foreignEntry() { return "\(path)/\(name)" }
                next += ((try? folder.names()) ?? []).map { "\(path)/\($0)" }
            }
            level = next
        }
        return nil
    }

    private static let levelsChecked = 3
    private static let foldersCheckedMax = 1000

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
