import Synchronization

/// The text of one SQL statement with parameters `$1`, `$2` and so on.
///
/// Make it once, as a `static let` or with a query plan: each connection prepares it at its first use
/// and finds it again by `id`. What a connection has prepared and not used for long is deallocated
/// there, so statements may come and go.
package final class Statement: Sendable {
    /// The SQL, a single statement.
    package let text: String
    /// Unlike an object's address, never used again after the statement is gone.
    let id: UInt64

    private static let lastID = Atomic<UInt64>(0)

    package init(_ text: String) {
        self.text = text
        id = Statement.lastID.add(1, ordering: .relaxed).newValue
    }
}
