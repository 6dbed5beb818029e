import Config
import Glibc

/// Checks the storage of covers.
enum StorageCheck {
    private static let check = "storage"
    /// With less free space, uploads will soon fail.
    private static let freeBytesMin = 1 << 30

    static func result(_ configuration: Configuration) -> CheckResult {
        switch configuration.storage {
        case .folder(let path): folder(path)
        case .s3(let s3):
            .wrong(
                check,
                "the bucket \(s3.bucket) cannot be used: this version does not support S3",
                "set BOOKPLATE_STORAGE to file:PATH")
        }
    }

    /// Whether the folder can be created, because its nearest existing parent is writable.
    private static func canBeCreated(_ path: String) -> Bool {
        var parent = path
        while let slash = parent.lastIndex(of: "/") {
            parent = String(parent[..<slash])
            var status = stat()
            guard stat(parent.isEmpty ? "/" : parent, &status) == 0 else { continue }
            return status.st_mode & S_IFMT == S_IFDIR
                && access(parent.isEmpty ? "/" : parent, W_OK | X_OK) == 0
        }
        return access(".", W_OK | X_OK) == 0
    }

    private static func folder(_ path: String) -> CheckResult {
        var status = stat()
        guard stat(path, &status) == 0 else {
            return canBeCreated(path)
                ? .ok(check, "\(path) does not exist; the server creates it when it is needed")
                : .wrong(
                    check, "\(path) does not exist and cannot be created",
                    "create it, with the server's user as its owner")
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            return .wrong(check, "\(path) is not a folder", "set BOOKPLATE_STORAGE to a folder")
        }
        guard access(path, R_OK | W_OK | X_OK) == 0 else {
            return .wrong(check, "\(path) is not writable", "make the server's user its owner")
        }
        guard status.st_mode & S_IWOTH == 0 else {
            return .wrong(check, "all users can write to \(path)", "run chmod 750 on it")
        }
        var space = statvfs()
        guard statvfs(path, &space) == 0 else {
            return .warning(
                check, "the free space of \(path) cannot be determined", "check it with df")
        }
        let free = Int(clamping: UInt64(space.f_bavail) * UInt64(space.f_frsize))
        let text = "\(free >> 20) MiB free in \(path)"
        return free < freeBytesMin
            ? .warning(check, "only \(text)", "free disk space before uploads fail")
            : .ok(check, text)
    }
}
