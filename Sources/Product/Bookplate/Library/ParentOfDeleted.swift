import Postgres

/// The result of a function that deletes a row of a book or of a read.
struct ParentOfDeleted: RowDecodable {
    /// The book or the read; nil if there was no row to delete.
    let id: UUID?

    init?(_ row: inout RowReader) { id = row.uuid() }
}
