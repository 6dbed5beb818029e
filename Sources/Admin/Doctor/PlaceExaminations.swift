import Bookplate
import Config
import Glibc
import Identity

/// The file of the session keys.
enum KeysExamination {
    private static let check = "keys"

    static func finding(_ configuration: Configuration) -> Finding {
        let file: String
        do throws(ConfigError) {
            file = try configuration.sessionKeysFile()
        } catch {
            return .wrong(check, "\(error)", "set it, then run bookplate-admin keys rotate")
        }
        do throws(SessionKeysError) {
            let count = try SessionKeys(file: file).signingKeys.count
            return .ok(check, "\(file) has \(count) signing \(count == 1 ? "key" : "keys")")
        } catch .system(errno: ENOENT) {
            return configuration.environment == .development
                ? .ok(check, "\(file) is made at the first start")
                : .wrong(check, "\(file) is not there", "run bookplate-admin keys rotate")
        } catch .readableByOthers {
            return .wrong(
                check, "everybody on this machine may read \(file)",
                "run chmod 600 on it, and bookplate-admin keys rotate")
        } catch {
            return .wrong(
                check, "\(file): \(error)", "restore it, or make a new one: all sessions end")
        }
    }
}

/// Where covers are kept.
enum StorageExamination {
    private static let check = "storage"
    /// Below this, uploads are soon refused by the disk.
    private static let freeBytesMin = 1 << 30

    static func finding(_ configuration: Configuration) -> Finding {
        switch configuration.storage {
        case .folder(let path): folder(path)
        case .s3(let place):
            .wrong(
                check,
                "the bucket \(place.bucket) cannot be used: this version keeps covers in a folder",
                "set BOOKPLATE_STORAGE to file:PATH")
        }
    }

    /// Whether the nearest folder above that is there may be written to.
    private static func mayBeMade(_ path: String) -> Bool {
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

    private static func folder(_ path: String) -> Finding {
        var status = stat()
        guard stat(path, &status) == 0 else {
            // The server makes it, where it may.
            return mayBeMade(path)
                ? .ok(check, "\(path) is made when it is needed")
                : .wrong(
                    check, "\(path) is not there and cannot be made",
                    "make it, for the server's user")
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            return .wrong(check, "\(path) is no folder", "let BOOKPLATE_STORAGE name a folder")
        }
        guard access(path, R_OK | W_OK | X_OK) == 0 else {
            return .wrong(check, "\(path) cannot be written to", "give it to the server's user")
        }
        guard status.st_mode & S_IWOTH == 0 else {
            return .wrong(check, "everybody may write to \(path)", "run chmod 750 on it")
        }
        var space = statvfs()
        guard statvfs(path, &space) == 0 else {
            return .warning(check, "the disk of \(path) cannot be measured", "look at it with df")
        }
        let free = Int(clamping: UInt64(space.f_bavail) * UInt64(space.f_frsize))
        let text = "\(free >> 20) MiB free in \(path)"
        return free < freeBytesMin
            ? .warning(check, "only \(text)", "make room before uploads fail") : .ok(check, text)
    }
}
