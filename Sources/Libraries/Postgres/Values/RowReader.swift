/// A type that is decoded from the rows of one statement.
package protocol RowDecodable: Sendable {
    /// Reads the columns in the order of the statement's select list.
    ///
    /// Returns nil if the row does not have the expected columns, or to leave it out of the result of `decode`.
    init?(_ row: inout RowReader)
}

/// Reads the cells of one row from left to right. Each method returns the next cell; nil if it is NULL or has another
/// type.
package struct RowReader {
    private let rows: Rows
    private let row: Int
    private var column = 0

    init(_ rows: Rows, _ row: Int) {
        self.rows = rows
        self.row = row
    }

    private mutating func next<Value>(_ read: (Rows) -> (Int, Int) -> Value?) -> Value? {
        defer { column += 1 }
        return read(rows)(row, column)
    }

    package mutating func bool() -> Bool? { next(Rows.bool) }
    /// Reads an integer of any width whose value fits into 32 bits.
    package mutating func int32() -> Int32? { next(Rows.int32) }
    /// Reads an integer of any width.
    package mutating func int64() -> Int64? { next(Rows.int64) }
    package mutating func float8() -> Double? { next(Rows.float8) }
    package mutating func uuid() -> UUID? { next(Rows.uuid) }
    /// Reads an instant in microseconds since the Unix epoch.
    package mutating func timestamptz() -> Int64? { next(Rows.timestamptz) }
    /// Reads a date in days since 1970-01-01.
    package mutating func date() -> Int32? { next(Rows.date) }
    package mutating func text() -> String? { next(Rows.text) }
    package mutating func texts() -> [String]? { next(Rows.texts) }
    package mutating func uuids() -> [UUID]? { next(Rows.uuids) }

    /// Reads a copy of a cell's bytes.
    package mutating func bytes() -> [UInt8]? {
        next { rows in { row, column in rows.bytes(row, column).map(Array.init) } }
    }
}

extension Rows {
    /// Returns the decoded rows. Rows that `Row` refuses are left out.
    package func decode<Row: RowDecodable>(_ type: Row.Type = Row.self) -> [Row] {
        (0..<count).compactMap { row in
            var reader = RowReader(self, row)
            return Row(&reader)
        }
    }
}

// Statements with one column need no type of their own.

extension UUID: RowDecodable {
    package init?(_ row: inout RowReader) {
        guard let value = row.uuid() else { return nil }
        self = value
    }
}

extension String: RowDecodable {
    package init?(_ row: inout RowReader) {
        guard let value = row.text() else { return nil }
        self = value
    }
}

extension Int32: RowDecodable {
    package init?(_ row: inout RowReader) {
        guard let value = row.int32() else { return nil }
        self = value
    }
}

extension Int64: RowDecodable {
    package init?(_ row: inout RowReader) {
        guard let value = row.int64() else { return nil }
        self = value
    }
}

extension Bool: RowDecodable {
    package init?(_ row: inout RowReader) {
        guard let value = row.bool() else { return nil }
        self = value
    }
}
