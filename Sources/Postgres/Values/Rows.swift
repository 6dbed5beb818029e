import CLibPQ

/// The result of one statement, in PostgreSQL's binary format: rows, or the number of rows it touched.
///
/// Cells are read where libpq has put them. A reader gives nil for NULL and for bytes that are not of
/// its type, and for a row or column that is not there.
package final class Rows: @unchecked Sendable {
    // A PGresult does not change once it is received, so it may be read from any thread.
    private let result: OpaquePointer
    /// How many rows there are.
    package let count: Int
    package let columnCount: Int

    /// Takes over the result.
    init(_ result: OpaquePointer) {
        self.result = result
        count = Int(PQntuples(result))
        columnCount = Int(PQnfields(result))
    }

    deinit {
        PQclear(result)
    }

    /// What was done, as in `INSERT 0 1`.
    package var commandTag: String { PQcmdStatus(result).map { String(cString: $0) } ?? "" }

    /// How many rows the statement inserted, updated, deleted or selected.
    package var affectedCount: Int {
        PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0
    }

    /// The index of the first column of this name.
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

    /// The cell as it lies in the result, nil for NULL.
    ///
    /// Valid while these rows live, and Swift may end a life after its last use:
    /// keep it with `withExtendedLifetime` around the work.
    package func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer? {
        guard row >= 0, row < count, column >= 0, column < columnCount else { return nil }
        let row = Int32(truncatingIfNeeded: row)
        let column = Int32(truncatingIfNeeded: column)
        let length = PQgetlength(result, row, column)
        // libpq gives NULL the length 0, so only an empty cell needs the second question.
        if length == 0, PQgetisnull(result, row, column) != 0 { return nil }
        return UnsafeRawBufferPointer(start: PQgetvalue(result, row, column), count: Int(length))
    }
}

extension Rows {
    package func bool(_ row: Int, _ column: Int) -> Bool? {
        guard let bytes = bytes(row, column), bytes.count == 1 else { return nil }
        return bytes[0] != 0
    }

    /// An integer of any width that fits.
    package func int32(_ row: Int, _ column: Int) -> Int32? {
        int64(row, column).flatMap(Int32.init(exactly:))
    }

    /// An integer of any width.
    package func int64(_ row: Int, _ column: Int) -> Int64? {
        bytes(row, column).flatMap(integer)
    }

    /// A `float8` or `float4`.
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

    /// An instant in microseconds of Unix time; `infinity` is the largest.
    package func timestamptz(_ row: Int, _ column: Int) -> Int64? {
        guard let bytes = bytes(row, column), bytes.count == 8, let value = integer(bytes) else {
            return nil
        }
        if value == .min { return .min }
        let (microseconds, overflow) = value.addingReportingOverflow(postgresEpochMicroseconds)
        return overflow ? .max : microseconds
    }

    /// A date in days since 1970-01-01; `infinity` is the largest.
    package func date(_ row: Int, _ column: Int) -> Int32? {
        guard let bytes = bytes(row, column), bytes.count == 4,
            let value = integer(bytes).map(Int32.init(truncatingIfNeeded:))
        else { return nil }
        if value == .min { return .min }
        let (days, overflow) = value.addingReportingOverflow(postgresEpochDays)
        return overflow ? .max : days
    }

    /// Text, an enum's label or `json`.
    package func text(_ row: Int, _ column: Int) -> String? {
        bytes(row, column).map { String(decoding: $0, as: UTF8.self) }
    }

    /// A one-dimensional array of text; nil where an element is NULL.
    package func texts(_ row: Int, _ column: Int) -> [String]? {
        var texts: [String] = []
        let isWhole = forEachElement(row, column) { element in
            element.map { texts.append(String(decoding: $0, as: UTF8.self)) } != nil
        }
        return isWhole ? texts : nil
    }

    /// A one-dimensional array of uuid; nil where an element is NULL.
    package func uuids(_ row: Int, _ column: Int) -> [UUID]? {
        var uuids: [UUID] = []
        let isWhole = forEachElement(row, column) { element in
            element.flatMap(UUID.init(bytes:)).map { uuids.append($0) } != nil
        }
        return isWhole ? uuids : nil
    }

    /// Visits the elements of a one-dimensional array, nil for NULL, until `visit` answers false.
    ///
    /// - Returns: false if it was stopped, or the cell is NULL or not such an array.
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
    /// Visits the elements of a cell that is a one-dimensional array, nil for NULL, until `visit` answers false.
    ///
    /// - Returns: false if it was stopped, or the cell is not such an array.
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
