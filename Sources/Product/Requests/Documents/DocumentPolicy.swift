/// Determines which documents a server executes.
package struct DocumentPolicy: Sendable {
    package enum Mode: Sendable {
        /// All documents are executed.
        case open
        /// All documents are executed; those that are not trusted are logged.
        case logged
        /// Only trusted documents are executed. A request can contain their ID, their hash, or their text.
        case onlyKnown
    }

    package var mode: Mode
    /// The texts that clients have registered. All event loops share them.
    package let persisted: PersistedQueries

    package init(mode: Mode = .open, persisted: PersistedQueries = PersistedQueries()) {
        self.mode = mode
        self.persisted = persisted
    }
}
