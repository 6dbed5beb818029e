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

    /// The same order from its end to its start.
    var reversed: RowOrder {
        RowOrder(name: name, columns: columns, isDescending: !isDescending)
    }

    /// Returns the same order with another name.
    package func named(_ name: String) -> RowOrder {
        RowOrder(name: name, columns: columns, isDescending: isDescending)
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
        return isAfter(columns.indices.map { "$\(firstParameter + $0)" })
    }

    /// Returns the condition for the rows after the given values of the keys.
    package func isAfter(_ values: [String]) -> String {
        let keys = columns.map(\.sql).joined(separator: ", ")
        return "(\(keys)) \(isDescending ? "<" : ">") (\(values.joined(separator: ", ")))"
    }
}

/// A position in an order: the keys of the row before it.
///
/// The text is the base64url encoding of the order's name, with the fingerprint of the filters if there are any, and of the keys'
/// binary cells. Each part follows its length, a big-endian integer of two bytes.
package struct Cursor {
    private enum Key {
        case uuid(UUID)
        case timestamp(microseconds: Int64)
        case text(String)
        case boolean(Bool)
        case float(Double)
        case integer(Int32)
    }

    private let keys: [Key]

    /// The maximum length of a cursor's text, in bytes.
    private static let textLengthMax = 16_384

    /// The name of the order and the fingerprint of the filters.
    private static func listName(_ order: RowOrder, _ filters: String) -> String {
        filters.isEmpty ? order.name : "\(order.name) \(fingerprint(filters))"
    }

    /// Returns the FNV-1a hash of a text.
    private static func fingerprint(_ text: String) -> UInt32 {
        text.utf8.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 }
    }

    /// - Parameters:
    ///   - filters: The other arguments that determine the list, as a text.
    ///   - argument: The name of the argument, for errors.
    /// - Throws: `.invalidCursor` for a text that is not a cursor, or an error for one of another list.
    package init(
        _ text: String, of order: RowOrder, filters: String = "", argument: String = "after"
    ) throws(RowError) {
        let invalid = RowError.invalidCursor(argument: argument)
        guard text.utf8.count <= Self.textLengthMax,
            var bytes = Base64URL.decode(text.utf8)?[...]
        else { throw invalid }
        func next() -> ArraySlice<UInt8>? {
            guard bytes.count >= 2 else { return nil }
            let length = Int(bytes[bytes.startIndex]) << 8 | Int(bytes[bytes.startIndex + 1])
            guard bytes.count >= 2 + length else { return nil }
            defer { bytes = bytes.dropFirst(2 + length) }
            return bytes.dropFirst(2).prefix(length)
        }
        guard let name = next(), !name.isEmpty,
            name.allSatisfy({
                $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "_") || $0.isLetterOrDigit
            })
        else { throw invalid }
        if !name.elementsEqual(Self.listName(order, filters).utf8) {
            let orderName = name.prefix { $0 != UInt8(ascii: " ") }
            throw orderName.elementsEqual(order.name.utf8)
                ? .cursorOfOtherFilters(argument: argument)
                : .cursorOfOtherOrder(argument: argument)
        }
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
        case .integer where cell.count == 2:
            return .integer(Int32(Int16(truncatingIfNeeded: cell.reduce(0) { $0 << 8 | Int($1) })))
        case .integer where cell.count == 4:
            return .integer(Int32(truncatingIfNeeded: cell.reduce(0) { $0 << 8 | Int($1) }))
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
            case .integer(let value): parameters.append(int32: value)
            }
        }
    }

    /// Returns the cursor after a row.
    ///
    /// - Parameter indices: The indices of the key columns.
    package static func text(
        of rows: Rows, _ row: Int, _ indices: [Int], _ order: RowOrder, filters: String = ""
    ) -> String {
        var bytes: [UInt8] = []
        func append(_ part: some Collection<UInt8>) {
            let count = UInt16(clamping: part.count)
            bytes.append(UInt8(count >> 8))
            bytes.append(UInt8(count & 255))
            bytes.append(contentsOf: part)
        }
        append(listName(order, filters).utf8)
        for index in indices {
            append(rows.bytes(row, index).map { Array($0) } ?? [])
        }
        return Base64URL.encode(bytes)
    }
}

extension UInt8 {
    fileprivate var isLetterOrDigit: Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
            || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self)
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self)
    }
}
