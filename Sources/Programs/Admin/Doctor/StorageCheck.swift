import Config
import ObjectStorage
import S3Storage

/// Checks the storage of covers.
enum StorageCheck {
    private static let check = "storage"

    static func result(
        _ storage: Configuration.Storage, isOffline: Bool
    ) async -> CheckResult {
        switch storage {
        case .folder(let path): result(folder: path)
        case .s3 where isOffline: .skipped(check, "not checked (--offline)")
        case .s3(let settings): await result(storage.description, settings)
        }
    }

    private static func result(
        _ name: String, _ settings: Configuration.S3
    ) async -> CheckResult {
        switch await S3Check.run(settings) {
        case .usable:
            .ok(check, "objects can be stored, listed, read, and removed in \(name)")
        case .failed(let reason):
            .wrong(
                check, "\(name) cannot be used: \(reason)",
                "check the bucket, its region, the endpoint, and the key and its policy")
        case .clockDiffers(let seconds):
            .warning(
                check,
                "the clocks of \(name) and of this machine differ by \(abs(seconds)) seconds",
                "synchronize the clock: requests are refused if the difference is more than 15 minutes"
            )
        case .notPublic(let reason):
            .wrong(
                check, "the public URL of \(name) does not show a stored object: \(reason)",
                "allow the public to read the bucket, correct the option public, or remove it")
        }
    }

    private static func result(folder path: String) -> CheckResult {
        switch FileStore.rootState(path) {
        case .missing(canBeCreated: true):
            return .ok(check, "\(path) does not exist; the server creates it when it is needed")
        case .missing(canBeCreated: false):
            return .wrong(
                check, "\(path) does not exist and cannot be created",
                "create it, with the server's user as its owner")
        case .notAFolder:
            return .wrong(check, "\(path) is not a folder", "set BOOKPLATE_STORAGE to a folder")
        case .notWritable:
            return .wrong(check, "\(path) is not writable", "make the server's user its owner")
        case .writableByAll:
            return .wrong(
                check, "all users can write to \(path)", "run chmod o-w on it",
                fix: CheckResult.Fix("remove the permission of other users to write to \(path)") {
                    try FileMode.remove(0o002, from: path)
                })
        case .foreign(let entry):
            return .wrong(
                check, "\(entry) belongs to another user than \(path)",
                "run as root: chown -R --reference=\(path) \(path)")
        case .freeSpaceUnknown:
            return .warning(
                check, "the free space of \(path) cannot be determined", "check it with df")
        case .usable(let freeBytes):
            let text = "\(freeBytes >> 20) MiB free in \(path)"
            if freeBytes < FileStore.freeBytesUsable {
                return .wrong(check, "only \(text)", "free disk space: uploads fail without it")
            }
            return freeBytes < FileStore.freeBytesMin
                ? .warning(check, "only \(text)", "free disk space before uploads fail")
                : .ok(check, text)
        }
    }
}
