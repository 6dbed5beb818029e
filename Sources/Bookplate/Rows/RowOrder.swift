import GraphQL
import Identity
import Postgres

/// An order of rows that no two rows share, so that a cursor can name a place in it.
struct RowOrder: Sendable {
    struct Key: Sendable {
        /// In the source's terms: `sb.added_at`.
        let sql: String
        /// The same as a column of the rows: `b.added_at`.
        let column: Column

        init(_ sql: String, _ column: Column) {
            self.sql = sql
            self.column = column
        }

        init(_ column: Column) { self.init(column.sql, column) }
    }

    /// The value of `orderBy`.
    let name: String
    /// None of them is ever null; the last tells all rows apart.
    let columns: [Key]
    let isDescending: Bool

    /// For `ORDER BY`. All keys go one way, so that one row comparison continues from a cursor.
    var sql: String {
        columns.map { isDescending ? "\($0.sql) DESC" : $0.sql }.joined(separator: ", ")
    }

    /// The rows behind a cursor: `(b.added_at, b.id) < ($5, $6)`.
    func isAfter(
        firstParameter: Int, _ cursor: Cursor, _ parameters: inout Parameters
    ) -> String {
        cursor.append(to: &parameters)
        let keys = columns.map(\.sql).joined(separator: ", ")
        let values = columns.indices.map { "$\(firstParameter + $0)" }.joined(separator: ", ")
        return "(\(keys)) \(isDescending ? "<" : ">") (\(values))"
    }
}

/// A place in an order: the keys of the row it stands behind.
///
/// As text: base64url of the order's name and the keys' binary cells, each with its length.
struct Cursor {
    private enum Key {
        case uuid(UUID)
        case timestamp(microseconds: Int64)
        case text(String)
        case boolean(Bool)
        case float(Double)
    }

    private let keys: [Key]

    /// - Throws: `.badUserInput` for what this order never made.
    init(_ text: String, of order: RowOrder) throws(BookplateError) {
        let invalid = BookplateError.badUserInput(
            field: "after", "This cursor is not of this list. Start again without it.")
        guard text.utf8.count <= 16_384, var bytes = Base64URL.decode(text.utf8)?[...] else {
            throw invalid
        }
        func next() -> ArraySlice<UInt8>? {
            guard bytes.count >= 2 else { return nil }
            let length = Int(bytes[bytes.startIndex]) << 8 | Int(bytes[bytes.startIndex + 1])
            guard bytes.count >= 2 + length else { return nil }
            defer { bytes = bytes.dropFirst(2 + length) }
            return bytes.dropFirst(2).prefix(length)
        }
        guard let name = next(), name.elementsEqual(order.name.utf8) else { throw invalid }
        var keys: [Key] = []
        for column in order.columns {
            guard let cell = next(), let key = Self.key(cell, as: column.column.format) else {
                throw invalid
            }
            keys.append(key)
        }
        guard bytes.isEmpty else { throw invalid }
        self.keys = keys
    }

    private static func key(_ cell: ArraySlice<UInt8>, as format: CellFormat) -> Key? {
        switch format {
        case .uuid:
            return cell.withUnsafeBytes { UUID(bytes: $0) }.map { .uuid($0) }
        case .timestamp where cell.count == 8:
            let value = cell.reduce(Int64(0)) { $0 << 8 | Int64($1) }
            // The cell counts from 2000, a parameter from 1970.
            let (unix, overflow) = value.addingReportingOverflow(946_684_800_000_000)
            return overflow ? nil : .timestamp(microseconds: unix)
        case .text:
            guard !cell.contains(0), let text = String(validating: cell, as: UTF8.self) else {
                return nil
            }
            return .text(text)
        case .boolean where cell.count == 1:
            return .boolean(cell.first != 0)
        case .float where cell.count == 8:
            return .float(Double(bitPattern: cell.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }))
        default:
            return nil
        }
    }

    func append(to parameters: inout Parameters) {
        for key in keys {
            switch key {
            case .uuid(let value): parameters.append(uuid: value)
            case .timestamp(let microseconds): parameters.append(timestamptz: microseconds)
            case .text(let value): parameters.append(text: value)
            case .boolean(let value): parameters.append(bool: value)
            case .float(let value): parameters.append(float8: value)
            }
        }
    }

    /// The cursor of a row whose keys stand at `indices`.
    static func text(of rows: Rows, _ row: Int, _ indices: [Int], _ order: RowOrder) -> String {
        var bytes: [UInt8] = []
        func append(_ part: some Collection<UInt8>) {
            let count = UInt16(clamping: part.count)
            bytes.append(UInt8(count >> 8))
            bytes.append(UInt8(count & 255))
            bytes.append(contentsOf: part)
        }
        append(order.name.utf8)
        for index in indices {
            append(rows.bytes(row, index).map { Array($0) } ?? [])
        }
        return Base64URL.encode(bytes)
    }
}
