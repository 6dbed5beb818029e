import Config
import Identity

/// Checks the key for Apple's token endpoints.
enum AppleKeyCheck {
    private static let check = "Apple key"

    static func result(_ configuration: Configuration) -> CheckResult {
        guard let key = configuration.identity.appleKey else {
            return .skipped(
                check, "not configured; grants of deleted accounts are not revoked at Apple")
        }
        do throws(AppleKeyFileError) {
            _ = try AppleTeamKey(teamID: key.teamID, keyID: key.keyID, file: key.file)
            return .ok(check, "\(key.file) can sign requests to Apple")
        } catch {
            switch error {
            case .unreadable:
                return .wrong(
                    check, "\(key.file) \(error)",
                    "run doctor as the user of the server, and let that user read the file")
            case .malformed:
                return .wrong(
                    check, "\(key.file) does not contain a private key that can sign",
                    "use the .p8 file from Apple's developer console")
            }
        }
    }
}
