import Glibc
import Identity
import Synchronization

/// The installation's session keys. They are read again when their file changes.
package final class SessionKeyring: Sendable {
    private struct State {
        var keys: SessionKeys
        var fileVersion: FileVersion?
        /// When the file was last checked because of a token with an unknown key.
        var checkedAt: ContinuousClock.Instant?
    }

    /// The metadata that changes whenever the file changes.
    private struct FileVersion: Equatable {
        let inode: UInt
        let bytes: Int
        /// The time of the last change of the content, the owner, or the permissions.
        let seconds: Int
        let nanoseconds: Int

        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            inode = UInt(status.st_ino)
            bytes = Int(status.st_size)
            seconds = status.st_ctim.tv_sec
            nanoseconds = status.st_ctim.tv_nsec
        }
    }

    private static let unknownKeyCheckInterval = Duration.seconds(1)

    /// nil for keys that exist only in memory.
    private let file: String?
    private let state: Mutex<State>
    private let changes = Atomic(0)

    package init(_ keys: SessionKeys) {
        file = nil
        state = Mutex(State(keys: keys))
    }

    /// - Parameter makesMissing: Whether to create the file if it does not exist.
    package init(file: String, makesMissing: Bool) throws(SessionKeysError) {
        self.file = file
        // The version is read first, so that a change during the read is noticed by the next `refresh`.
        let fileVersion = FileVersion(file)
        let keys = try SessionKeys(file: file, makesMissing: makesMissing)
        state = Mutex(State(keys: keys, fileVersion: fileVersion ?? FileVersion(file)))
    }

    package var keys: SessionKeys { state.withLock { $0.keys } }

    /// A number that changes whenever the keys change. Tokens verified with the old keys must then be verified again.
    var version: Int { changes.load(ordering: .acquiring) }

    /// Reads the file again if it has changed.
    ///
    /// - Returns: Whether the keys have changed.
    /// - Throws: An error if the file cannot be used. The keys then stay unchanged.
    @discardableResult
    package func refresh() throws(SessionKeysError) -> Bool {
        guard let file else { return false }
        let fileVersion = FileVersion(file)
        guard fileVersion != state.withLock({ $0.fileVersion }) else { return false }
        // Set before the file is read, so that an unusable file is reported only once per change.
        state.withLock { $0.fileVersion = fileVersion }
        let keys = try SessionKeys(file: file)
        let hasChanged = state.withLock { state in
            guard state.keys != keys else { return false }
            state.keys = keys
            return true
        }
        if hasChanged { changes.add(1, ordering: .releasing) }
        return hasChanged
    }

    /// Reads the file again, if it has changed, because of a token whose key is unknown: another server may have just
    /// created the key. Checks the file at most once per second.
    func refreshForUnknownKey() -> Bool {
        let now = ContinuousClock.now
        let isDue = state.withLock { state in
            if let checkedAt = state.checkedAt, now - checkedAt < Self.unknownKeyCheckInterval {
                return false
            }
            state.checkedAt = now
            return true
        }
        // Errors are reported by the regular refresh.
        return isDue && (try? refresh()) == true
    }
}
