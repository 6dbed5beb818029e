/// Which documents a server runs.
package struct DocumentPolicy: Sendable {
    package enum Mode: Sendable {
        /// Any.
        case open
        /// Any; those that no app was published with are logged.
        case logged
        /// Trusted ones only: by their id, by their hash, or by their very text.
        case onlyKnown
    }

    package var mode: Mode
    /// Texts that clients registered; one for the process.
    package let persisted: PersistedQueries

    package init(mode: Mode = .open, persisted: PersistedQueries = PersistedQueries()) {
        self.mode = mode
        self.persisted = persisted
    }
}
