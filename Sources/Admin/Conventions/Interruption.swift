import Glibc
import Synchronization

/// Ctrl-C and SIGTERM for a command that works in batches: the first lets it end the batch, so that its
/// checkpoint is right; the second ends it at once, and PostgreSQL undoes what was under way.
///
/// A command of one transaction needs none of this: killed anywhere, nothing of it has happened.
enum Interruption {
    fileprivate static let isAsked = Atomic(false)

    /// From now on signals are taken note of.
    static func watch() {
        _ = isAsked.load(ordering: .relaxed)  // made before a signal's handler may need it
        for number in [SIGINT, SIGTERM] { signal(number, noteInterruption) }
    }

    /// - Throws: between two batches, where the operator wants it to end.
    static func check() throws(Failure) {
        if isAsked.load(ordering: .relaxed) {
            throw Failure("interrupted: the same command goes on from here")
        }
    }
}

private func noteInterruption(_ number: Int32) {
    if Interruption.isAsked.exchange(true, ordering: .relaxed) { _exit(128 + number) }
}
