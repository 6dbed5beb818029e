import Config
import Glibc
import Identity

/// Checks the file with the session keys.
enum KeysCheck {
    private static let check = "keys"

    static func result(_ configuration: Configuration) -> CheckResult {
        let file: String
        do throws(ConfigError) {
            file = try configuration.sessionKeysFile()
        } catch {
            return .wrong(check, "\(error)", "set it, then run bookplate-admin keys rotate")
        }
        do throws(SessionKeysError) {
            let count = try SessionKeys(file: file).signingKeys.count
            if let owner = serverUser(configuration, keys: file), !owner.canRead(file) {
                return .wrong(
                    check, "the user of the server (\(owner.name)) cannot read \(file)",
                    "run chown \(owner.name) \(file)")
            }
            return .ok(check, "\(file) has \(count) signing \(count == 1 ? "key" : "keys")")
        } catch .system(errno: ENOENT) {
            return configuration.environment == .development
                ? .ok(check, "\(file) does not exist; the first start creates it")
                : .wrong(check, "\(file) does not exist", "run bookplate-admin keys rotate")
        } catch .readableByOthers {
            return .wrong(
                check, "other users of this machine can access \(file)",
                "run chmod o-rwx on it, and then bookplate-admin keys rotate",
                fix: CheckResult.Fix("remove the permissions of other users on \(file)") {
                    try FileMode.remove(0o007, from: file)
                })
        } catch .system(errno: EACCES) {
            return .wrong(
                check, "this user may not read \(file)",
                "run doctor as the user of the server; if the server cannot read the file, make that user its owner with chown"
            )
        } catch {
            return .wrong(
                check, "\(file): \(error)",
                "restore it; a new one cannot decrypt Apple's tokens and the secrets of webhooks")
        }
    }

    /// Returns the user that the server probably runs as, if root runs this program: the owner of the covers, or of the folder
    /// with the keys. Root itself can read every file.
    private static func serverUser(_ configuration: Configuration, keys: String) -> FileUser? {
        guard geteuid() == 0 else { return nil }
        if case .folder(let path) = configuration.storage, let user = FileUser(ownerOf: path) {
            return user
        }
        return FileUser(ownerOf: keys.lastIndex(of: "/").map { String(keys[...$0]) } ?? ".")
    }
}

/// A user of this machine, to check which files it can read.
private struct FileUser {
    let name: String
    private let id: uid_t
    private let groups: [gid_t]

    /// - Parameter path: A file or folder of the user. The result is nil if it belongs to root, or to no known user.
    init?(ownerOf path: String) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_uid != 0, let entry = getpwuid(status.st_uid),
            let name = entry.pointee.pw_name
        else { return nil }
        var count: Int32 = 256
        var groups = [gid_t](repeating: 0, count: Int(count))
        guard getgrouplist(name, entry.pointee.pw_gid, &groups, &count) >= 0 else { return nil }
        self.name = String(cString: name)
        id = status.st_uid
        self.groups = Array(groups.prefix(Int(count)))
    }

    func canRead(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return false }
        if status.st_uid == id { return status.st_mode & S_IRUSR != 0 }
        return groups.contains(status.st_gid)
            ? status.st_mode & S_IRGRP != 0 : status.st_mode & S_IROTH != 0
    }
}
