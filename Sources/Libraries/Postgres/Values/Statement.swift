/// The text of one SQL statement with parameters `$1`, `$2`, and so on.
///
/// Create a statement once, as a `static let` or as part of a query plan. Each connection prepares it on
/// first use and recognizes it by `id` afterwards. Connections deallocate statements that were not used
/// recently, so creating statements dynamically is safe.
package final class Statement: Sendable {
    /// The SQL of a single statement, on one line.
    package let text: String
    /// A hash of the text. Statements with the same text are prepared once.
    let id: UInt128

    /// - Parameter text: May have several lines, indentation, and comments; they are removed once, here.
    package init(_ text: String) {
        self.text = foldWhitespace(inSQL: text)
        id = Statement.hash(self.text)
    }

    /// Returns the FNV-1a hash of a text. It is the same in every process.
    private static func hash(_ text: String) -> UInt128 {
        text.utf8.reduce(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d) { hash, byte in
            (hash ^ UInt128(byte)) &* 0x0000_0000_0100_0000_0000_0000_0000_013b
        }
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
