import Glibc
import Identity
import Requests

extension SessionKeys {
    /// Adds a new signing key to the keys in a file. Creates the file if it does not exist.
    ///
    /// - Parameters:
    ///   - count: The number of older signing keys to keep.
    ///   - isDryRun: Whether to leave the file unchanged.
    /// - Returns: The new keys.
    package static func rotate(
        file path: String, keeping count: Int, isDryRun: Bool
    ) throws(SessionKeysError) -> SessionKeys {
        let old: SessionKeys
        do throws(SessionKeysError) {
            old = try SessionKeys(file: path)
        } catch {
            guard case .system(errno: ENOENT) = error else { throw error }
            return isDryRun ? .generate() : try SessionKeys(file: path, makesMissing: true)
        }
        let keys = old.rotated(keeping: count)
        if !isDryRun { try keys.replace(file: path) }
        return keys
    }
}
