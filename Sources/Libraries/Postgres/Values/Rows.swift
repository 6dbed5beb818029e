import CLibPQ

/// The result of one statement in PostgreSQL's binary format: rows, or the number of affected rows.
///
/// Cells are decoded directly from libpq's buffer when they are read. A reader returns nil for NULL, for
/// bytes that do not match its type, and for a row or column index that is out of range.
package final class Rows: @unchecked Sendable {
    // Safe to read from any thread: a PGresult is immutable once it has been received.
    private let result: OpaquePointer
    /// The number of rows.
    package let count: Int
    package let columnCount: Int

    /// Takes ownership of a PGresult, which `deinit` frees.
    init(_ result: OpaquePointer) {
        self.result = result
        count = Int(PQntuples(result))
        columnCount = Int(PQnfields(result))
    }

    /// The memory that the rows occupy, in bytes.
    package var byteCount: Int { PQresultMemorySize(result) }

    /// The size of the largest row, in bytes.
    var largestRowByteCount: Int {
        (0..<count).lazy.map { row in
            (0..<self.columnCount).reduce(0) { $0 + (self.bytes(row, $1)?.count ?? 0) }
        }.max() ?? 0
    }

    deinit {
        PQclear(result)
    }

    /// The number of rows that the statement inserted, updated, deleted, or selected.
    package var affectedCount: Int {
        PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0
    }

    /// Returns the index of the first column with this name.
    package func column(_ name: String) -> Int? {
        (0..<columnCount).first { self.name(ofColumn: $0) == name }
    }

    package func name(ofColumn column: Int) -> String? {
        PQfname(result, Int32(truncatingIfNeeded: column)).map { String(cString: $0) }
    }

    package func type(ofColumn column: Int) -> PostgresType {
        PostgresType(rawValue: PQftype(result, Int32(truncatingIfNeeded: column)))
    }

    package func isNull(_ row: Int, _ column: Int) -> Bool {
        bytes(row, column) == nil
    }

    /// Returns the bytes of a cell in libpq's buffer; nil for NULL.
    ///
    /// The pointer is valid only while this object is alive. Swift may release an object after its last
    /// use, so wrap the use of the bytes in `withExtendedLifetime(rows)`.
    package func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer? {
        guard row >= 0, row < count, column >= 0, column < columnCount else { return nil }
        let row = Int32(truncatingIfNeeded: row)
        let column = Int32(truncatingIfNeeded: column)
        let length = PQgetlength(result, row, column)
        // libpq reports length 0 for NULL, so PQgetisnull is needed only for that length.
        if length == 0, PQgetisnull(result, row, column) != 0 { return nil }
        return UnsafeRawBufferPointer(start: PQgetvalue(result, row, column), count: Int(length))
    }
}

extension Rows {
    package func bool(_ row: Int, _ column: Int) -> Bool? {
        guard let bytes = bytes(row, column), bytes.count == 1 else { return nil }
        return bytes[0] != 0
    }

    /// Returns an integer of any width whose value fits into 32 bits.
    package func int32(_ row: Int, _ column: Int) -> Int32? {
        int64(row, column).flatMap(Int32.init(exactly:))
    }

    /// Returns an integer of any width.
    package func int64(_ row: Int, _ column: Int) -> Int64? {
        bytes(row, column).flatMap(integer)
    }

    /// Returns a `float8` or `float4`.
    package func float8(_ row: Int, _ column: Int) -> Double? {
        guard let bytes = bytes(row, column) else { return nil }
        return switch bytes.count {
        case 8: Double(bitPattern: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)))
        case 4: Double(Float(bitPattern: UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self))))
        default: nil
        }
    }

    package func uuid(_ row: Int, _ column: Int) -> UUID? {
        bytes(row, column).flatMap(UUID.init(bytes:))
    }

    /// Returns an instant in microseconds since the Unix epoch. `infinity` is `Int64.max`, and
    /// `-infinity` is `Int64.min`.
    package func timestamptz(_ row: Int, _ column: Int) -> Int64? {
        guard let bytes = bytes(row, column), bytes.count == 8, let value = integer(bytes) else {
            return nil
        }
        if value == .min { return .min }
        let (microseconds, overflow) = value.addingReportingOverflow(postgresEpochMicroseconds)
        return overflow ? .max : microseconds
    }

    /// Returns a date in days since 1970-01-01. `infinity` is `Int32.max`, and `-infinity` is `Int32.min`.
    package func date(_ row: Int, _ column: Int) -> Int32? {
        guard let bytes = bytes(row, column), bytes.count == 4,
            let value = integer(bytes).map(Int32.init(truncatingIfNeeded:))
        else { return nil }
        if value == .min { return .min }
        let (days, overflow) = value.addingReportingOverflow(postgresEpochDays)
        return overflow ? .max : days
    }

    /// Returns the value of a text, enum, or `json` cell.
    package func text(_ row: Int, _ column: Int) -> String? {
        bytes(row, column).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns a one-dimensional text array; nil if an element is NULL.
    package func texts(_ row: Int, _ column: Int) -> [String]? {
        var texts: [String] = []
        let isWhole = forEachElement(row, column) { element in
            element.map { texts.append(String(decoding: $0, as: UTF8.self)) } != nil
        }
        return isWhole ? texts : nil
    }

    /// Returns a one-dimensional uuid array; nil if an element is NULL.
    package func uuids(_ row: Int, _ column: Int) -> [UUID]? {
        var uuids: [UUID] = []
        let isWhole = forEachElement(row, column) { element in
            element.flatMap(UUID.init(bytes:)).map { uuids.append($0) } != nil
        }
        return isWhole ? uuids : nil
    }

    /// Calls `visit` for each element of a one-dimensional array, with nil for NULL, until it returns false.
    ///
    /// - Returns: False if `visit` returned false, or if the cell is NULL or not a one-dimensional array.
    package func forEachElement(
        _ row: Int, _ column: Int, _ visit: (UnsafeRawBufferPointer?) -> Bool
    ) -> Bool {
        bytes(row, column)?.forEachArrayElement(visit) ?? false
    }

    private func integer(_ bytes: UnsafeRawBufferPointer) -> Int64? {
        switch bytes.count {
        case 8: Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
        case 4: Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
        case 2: Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
        default: nil
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Decodes the bytes as a one-dimensional array and calls `visit` for each element, with nil for NULL,
    /// until it returns false.
    ///
    /// - Returns: False if `visit` returned false, or if the bytes are not a one-dimensional array.
    package func forEachArrayElement(_ visit: (UnsafeRawBufferPointer?) -> Bool) -> Bool {
        guard count >= 12 else { return false }
        func word(at offset: Int) -> Int {
            Int(Int32(bigEndian: loadUnaligned(fromByteOffset: offset, as: Int32.self)))
        }
        guard word(at: 0) != 0 else { return true }
        guard word(at: 0) == 1, count >= 20 else { return false }
        var offset = 20
        let elementCount = word(at: 12)
        guard elementCount >= 0 else { return false }
        for _ in 0..<elementCount {
            guard count - offset >= 4 else { return false }
            let length = word(at: offset)
            offset += 4
            guard length <= count - offset else { return false }
            guard
                visit(
                    length < 0
                        ? nil : UnsafeRawBufferPointer(rebasing: self[offset..<offset + length]))
            else { return false }
            if length > 0 { offset += length }
        }
        return true
    }
}
