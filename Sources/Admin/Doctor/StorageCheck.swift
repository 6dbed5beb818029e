import Config
import ObjectStorage

/// Checks the storage of covers.
enum StorageCheck {
    private static let check = "storage"

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

    private static func folder(_ path: String) -> CheckResult {
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
            return .wrong(check, "all users can write to \(path)", "run chmod 750 on it")
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
