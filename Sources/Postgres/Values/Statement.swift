import Synchronization

/// The text of one SQL statement with parameters `$1`, `$2`, and so on.
///
/// Create a statement once, as a `static let` or as part of a query plan. Each connection prepares it on
/// first use and recognizes it by `id` afterwards. Connections deallocate statements that were not used
/// recently, so creating statements dynamically is safe.
package final class Statement: Sendable {
    /// The SQL of a single statement, on one line.
    package let text: String
    /// A unique number. Unlike an object's address, it is never reused.
    let id: UInt64

    private static let lastID = Atomic<UInt64>(0)

    /// - Parameter text: May have several lines, indentation, and comments; they are removed once, here.
    package init(_ text: String) {
        self.text = foldWhitespace(inSQL: text)
        id = Statement.lastID.add(1, ordering: .relaxed).newValue
    }
}

/// A statement whose rows are decoded as values of one type.
///
/// ```swift
/// struct ShelfSize: RowDecodable {
///     let id: UUID
///     let bookCount: Int32
///
///     init?(_ row: inout RowReader) {
///         guard let id = row.uuid(), let bookCount = row.int32() else { return nil }
///         self.id = id
///         self.bookCount = bookCount
///     }
///
///     static let query = TypedStatement<Self>(
///         """
///         SELECT shelf_id, count(*)::int
///         FROM shelf_books
///         WHERE user_id = $1
///         GROUP BY shelf_id
///         """)
/// }
/// ```
package struct TypedStatement<Row: RowDecodable>: Sendable {
    package let statement: Statement

    /// - Parameter text: See `Statement.init`.
    package init(_ text: String) {
        statement = Statement(text)
    }
}
