import Config
import ObjectStorage

/// Checks the storage of covers.
enum StorageCheck {
    private static let check = "storage"

    static func result(_ configuration: Configuration) -> CheckResult {
        let path = configuration.storage.folder
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
        case .freeSpaceUnknown:
            return .warning(
                check, "the free space of \(path) cannot be determined", "check it with df")
        case .usable(let freeBytes):
            let text = "\(freeBytes >> 20) MiB free in \(path)"
            return freeBytes < FileStore.freeBytesMin
                ? .warning(check, "only \(text)", "free disk space before uploads fail")
                : .ok(check, text)
        }
    }
}
