import Glibc
import Identity
import Synchronization

/// The installation's session keys as this process has them: read again when their file changes.
package final class SessionKeyring: Sendable {
    private struct State {
        var keys: SessionKeys
        var stamp: Stamp?
        /// When the file was last looked at for a token whose key is not here.
        var lookedAt: ContinuousClock.Instant?
    }

    /// What tells one state of a file from the next.
    private struct Stamp: Equatable {
        let inode: UInt
        let bytes: Int
        let seconds: Int
        let nanoseconds: Int

        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            inode = UInt(status.st_ino)
            bytes = Int(status.st_size)
            seconds = status.st_mtim.tv_sec
            nanoseconds = status.st_mtim.tv_nsec
        }
    }

    private static let lookInterval = Duration.seconds(1)

    /// Nil for keys that live in memory only.
    private let file: String?
    private let state: Mutex<State>
    private let changes = Atomic(0)

    package init(_ keys: SessionKeys) {
        file = nil
        state = Mutex(State(keys: keys))
    }

    /// - Parameter makesMissing: whether a file that is not there is made.
    package init(file: String, makesMissing: Bool) throws(SessionKeysError) {
        self.file = file
        // Looked at first: what is written meanwhile is read the next time.
        let stamp = Stamp(file)
        let keys = try SessionKeys(file: file, makesMissing: makesMissing)
        state = Mutex(State(keys: keys, stamp: stamp ?? Stamp(file)))
    }

    package var keys: SessionKeys { state.withLock { $0.keys } }

    /// Another number whenever the keys are others: what was verified by the old ones is to be verified again.
    var version: Int { changes.load(ordering: .acquiring) }

    /// Reads the file again if it is another since.
    ///
    /// - Returns: whether the keys are others now.
    /// - Throws: where the file cannot be used; the keys stay as they were.
    @discardableResult
    package func refresh() throws(SessionKeysError) -> Bool {
        guard let file else { return false }
        let stamp = Stamp(file)
        guard stamp != state.withLock({ $0.stamp }) else { return false }
        // Also where it cannot be used: it is told once, and looked at again when it changes.
        state.withLock { $0.stamp = stamp }
        let keys = try SessionKeys(file: file)
        let isOther = state.withLock { state in
            guard state.keys != keys else { return false }
            state.keys = keys
            return true
        }
        if isOther { changes.add(1, ordering: .releasing) }
        return isOther
    }

    /// The same for a token whose key is not here, which another server may have made a moment ago: at most once
    /// a second, however many strange tokens come.
    func refreshForUnknownKey() -> Bool {
        let now = ContinuousClock.now
        let isDue = state.withLock { state in
            if let lookedAt = state.lookedAt, now - lookedAt < Self.lookInterval { return false }
            state.lookedAt = now
            return true
        }
        // What is wrong with the file, the regular look tells.
        return isDue && (try? refresh()) == true
    }
}
