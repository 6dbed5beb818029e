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
}
