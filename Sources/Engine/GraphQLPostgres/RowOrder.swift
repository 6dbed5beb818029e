import Basics
import GraphQL
import Postgres

/// A total order of rows: no two rows have equal keys, so a cursor identifies exactly one position.
package struct RowOrder: Sendable {
    package struct Key: Sendable {
        /// The expression in terms of the source's tables: `sb.added_at`.
        package let sql: String
        /// The same value as a column of the selected rows: `b.added_at`.
        package let column: Column

        package init(_ sql: String, _ column: Column) {
            self.sql = sql
            self.column = column
        }

        package init(_ column: Column) { self.init(column.sql, column) }
    }

    /// The value of the argument `orderBy`.
    package let name: String
    /// The keys. They are never null, and the last one is unique.
    package let columns: [Key]
    package let isDescending: Bool

    package init(name: String, columns: [Key], isDescending: Bool) {
        self.name = name
        self.columns = columns
        self.isDescending = isDescending
    }

    /// Returns the same order with other expressions of its keys.
    func withKeys(_ keys: [String]) -> RowOrder {
        RowOrder(
            name: name, columns: zip(keys, columns).map { Key($0, $1.column) },
            isDescending: isDescending)
    }

    /// The expressions of `ORDER BY`. All keys have the same direction, so that a single row comparison continues after a
    /// cursor.
    package var sql: String {
        columns.map { isDescending ? "\($0.sql) DESC" : $0.sql }.joined(separator: ", ")
    }

    /// Returns the condition for the rows after a cursor, for example `(b.added_at, b.id) < ($5, $6)`, and appends its
    /// parameters.
    package func isAfter(
        firstParameter: Int, _ cursor: Cursor, _ parameters: inout Parameters
    ) -> String {
        cursor.append(to: &parameters)
        let keys = columns.map(\.sql).joined(separator: ", ")
        let values = columns.indices.map { "$\(firstParameter + $0)" }.joined(separator: ", ")
        return "(\(keys)) \(isDescending ? "<" : ">") (\(values))"
    }
}

/// A position in an order: the keys of the row before it.
///
/// The text is the base64url encoding of the order's name and the keys' binary cells. Each part follows its length, a
/// big-endian integer of two bytes.
package struct Cursor {
    private enum Key {
        case uuid(UUID)
        case timestamp(microseconds: Int64)
        case text(String)
        case boolean(Bool)
        case float(Double)
    }

    private let keys: [Key]

    /// The maximum length of a cursor's text, in bytes.
    private static let textLengthMax = 16_384

    /// - Throws: `.invalidCursor` for a text that is not a cursor of this order.
    package init(_ text: String, of order: RowOrder) throws(RowError) {
        guard text.utf8.count <= Self.textLengthMax,
            var bytes = Base64URL.decode(text.utf8)?[...]
        else { throw .invalidCursor }
        func next() -> ArraySlice<UInt8>? {
            guard bytes.count >= 2 else { return nil }
            let length = Int(bytes[bytes.startIndex]) << 8 | Int(bytes[bytes.startIndex + 1])
            guard bytes.count >= 2 + length else { return nil }
            defer { bytes = bytes.dropFirst(2 + length) }
            return bytes.dropFirst(2).prefix(length)
        }
        guard let name = next(), name.elementsEqual(order.name.utf8) else { throw .invalidCursor }
        var keys: [Key] = []
        for column in order.columns {
            guard let cell = next(), let key = Self.key(cell, as: column.column.format) else {
                throw .invalidCursor
            }
            keys.append(key)
        }
        guard bytes.isEmpty else { throw .invalidCursor }
        self.keys = keys
    }

    private static func key(_ cell: ArraySlice<UInt8>, as format: CellFormat) -> Key? {
        switch format {
        case .uuid:
            return cell.withUnsafeBytes { UUID(bytes: $0) }.map { .uuid($0) }
        case .timestamp where cell.count == 8:
            let value = cell.reduce(Int64(0)) { $0 << 8 | Int64($1) }
            // Cells count from 2000-01-01, parameters from 1970-01-01.
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

    package func append(to parameters: inout Parameters) {
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

    /// Returns the cursor after a row.
    ///
    /// - Parameter indices: The indices of the key columns.
    package static func text(of rows: Rows, _ row: Int, _ indices: [Int], _ order: RowOrder)
        -> String
    {
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
