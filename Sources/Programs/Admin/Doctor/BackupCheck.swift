import Config
import Glibc

/// Checks the age of the newest backup.
enum BackupCheck {
    private static let check = "backups"
    /// A day, and time for a backup that takes long or begins late.
    private static let secondsMax = 36 * 3600

    /// Returns nothing in development, unless a folder is set.
    static func results(_ configuration: Configuration) -> [CheckResult] {
        guard let folder = configuration.backups else {
            return configuration.environment == .production
                ? [.skipped(check, "not checked, because BOOKPLATE_BACKUPS is not set")] : []
        }
        guard let newest = folder.newestTime() else {
            return [
                .warning(
                    check,
                    "there is no complete backup in \(folder.path), or this user cannot read it",
                    "make one with scripts/backup, such as by systemctl start bookplate-backup")
            ]
        }
        let age = max(0, time(nil) - newest)
        let text = "the newest one in \(folder.path) is \(age / 3600) hours old"
        return [
            age > secondsMax
                ? .wrong(
                    check, text,
                    "find out why no newer one was made, such as in journalctl -u bookplate-backup")
                : .ok(check, text)
        ]
    }
}
