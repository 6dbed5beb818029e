import Synchronization

/// The text of one SQL statement with parameters `$1`, `$2`, and so on.
///
/// Create a statement once, as a `static let` or as part of a query plan. Each connection prepares it on
/// first use and recognizes it by `id` afterwards. Connections deallocate statements that were not used
/// recently, so creating statements dynamically is safe.
package final class Statement: Sendable {
    /// The SQL of a single statement.
    package let text: String
    /// A unique number. Unlike an object's address, it is never reused.
    let id: UInt64

    private static let lastID = Atomic<UInt64>(0)

    package init(_ text: String) {
        self.text = text
        id = Statement.lastID.add(1, ordering: .relaxed).newValue
    }
}
