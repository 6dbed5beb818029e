import Glibc
import Synchronization

/// The handling of SIGINT (Ctrl-C) and SIGTERM in commands that work in batches.
///
/// After the first signal, the command finishes the current batch and saves its checkpoint. The second signal ends the process
/// immediately, and PostgreSQL rolls the current transaction back.
///
/// Commands with a single transaction do not need this, because an interrupted transaction has no effect.
enum Interruption {
    fileprivate static let isRequested = Atomic(false)

    /// Installs the signal handlers.
    static func watch() {
        // Initializes the lazy static before a signal handler uses it.
        _ = isRequested.load(ordering: .relaxed)
        for number in [SIGINT, SIGTERM] { signal(number, handleSignal) }
    }

    /// Must be called between two batches.
    ///
    /// - Throws: if a signal has been received.
    static func check() throws(Failure) {
        if isRequested.load(ordering: .relaxed) { throw .interrupted }
    }
}

private func handleSignal(_ number: Int32) {
    if Interruption.isRequested.exchange(true, ordering: .relaxed) { _exit(128 + number) }
}
