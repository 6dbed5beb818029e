import GraphQL

/// A column of a statement: an SQL expression and the format of its cells.
package struct Column: Hashable, Sendable {
    /// The expression. It uses the alias that the type's table has in every statement, for example `b.title`.
    package let sql: String
    package let format: CellFormat

    package init(_ sql: String, _ format: CellFormat) {
        self.sql = sql
        self.format = format
    }
}

/// The PostgreSQL type of a cell, which determines its binary form and its JSON.
///
/// The types are uuid, text or an enum, smallint, integer or bigint, double precision, boolean, timestamptz, arrays of text or of an
/// enum, and uuid[]. Only the length of a cell is checked, so an expression of another type, such as numeric, returns a wrong value or a field error.
package enum CellFormat: Sendable {
    case uuid, text, integer, float, boolean, timestamp, texts, uuids
}

extension ResponseWriter {
    /// Writes a cell directly from libpq's buffer as JSON.
    ///
    /// A cell whose length does not match the format is a field error.
    package mutating func write(cell: UnsafeRawBufferPointer, as format: CellFormat) -> LeafResult {
        switch format {
        case .text:
            write(utf8: cell.assumingMemoryBound(to: UInt8.self))
        case .uuid where cell.count == 16:
            writeUUID(cell)
        case .integer:
            switch cell.count {
            case 8: write(Int(Int64(bigEndian: cell.loadUnaligned(as: Int64.self))))
            case 4: write(Int(Int32(bigEndian: cell.loadUnaligned(as: Int32.self))))
            case 2: write(Int(Int16(bigEndian: cell.loadUnaligned(as: Int16.self))))
            default: return .error(.malformedCell)
            }
        case .float where cell.count == 8:
            let bits = UInt64(bigEndian: cell.loadUnaligned(as: UInt64.self))
            if !write(Double(bitPattern: bits)) { return .null }
        case .boolean where cell.count == 1:
            write(cell[0] != 0)
        case .timestamp where cell.count == 8:
            writeTimestamp(Int64(bigEndian: cell.loadUnaligned(as: Int64.self)))
        case .texts:
            return writeList(cell) { element, writer in
                writer.write(utf8: element.assumingMemoryBound(to: UInt8.self))
                return true
            }
        case .uuids:
            return writeList(cell) { element, writer in
                guard element.count == 16 else { return false }
                writer.writeUUID(element)
                return true
            }
        case .uuid, .float, .boolean, .timestamp:
            return .error(.malformedCell)
        }
        return .value
    }

    private mutating func writeUUID(_ cell: UnsafeRawBufferPointer) {
        reserve(38) { out in
            out[0] = UInt8(ascii: "\"")
            var position = 1
            for index in 0..<16 {
                if index == 4 || index == 6 || index == 8 || index == 10 {
                    out[position] = UInt8(ascii: "-")
                    position += 1
                }
                out[position] = hexDigit(cell[index] >> 4)
                out[position + 1] = hexDigit(cell[index] & 15)
                position += 2
            }
            out[37] = UInt8(ascii: "\"")
            return 38
        }
    }

    /// Writes an instant in UTC with milliseconds: `"2026-01-31T23:59:59.999Z"`.
    ///
    /// - Parameter microseconds: The time since 2000-01-01T00:00:00Z, PostgreSQL's epoch.
    package mutating func writeTimestamp(_ microseconds: Int64) {
        // RFC 3339 has four-digit years. Instants outside the years 0 to 9999 are clamped to that range.
        let bounded = min(max(microseconds, -63_113_904_000_000_000), 252_455_615_999_999_000)
        let (days, time) = bounded.quotientAndModulo(1000).0.quotientAndModulo(86_400_000)
        let date = CivilDate(daysSince2000: Int(days))
        reserve(26) { out in
            out[0] = UInt8(ascii: "\"")
            var position = 1
            func digits(_ value: Int, _ count: Int, then separator: UInt8) {
                var value = value
                for index in stride(from: position + count - 1, through: position, by: -1) {
                    out[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value % 10)
                    value /= 10
                }
                out[position + count] = separator
                position += count + 1
            }
            digits(date.year, 4, then: UInt8(ascii: "-"))
            digits(date.month, 2, then: UInt8(ascii: "-"))
            digits(date.day, 2, then: UInt8(ascii: "T"))
            digits(Int(time / 3_600_000), 2, then: UInt8(ascii: ":"))
            digits(Int(time / 60_000 % 60), 2, then: UInt8(ascii: ":"))
            digits(Int(time / 1000 % 60), 2, then: UInt8(ascii: "."))
            digits(Int(time % 1000), 3, then: UInt8(ascii: "Z"))
            out[25] = UInt8(ascii: "\"")
            return 26
        }
    }

    /// Writes a one-dimensional array as a list. A null element, or one that `writeElement` refuses, is a field error.
    private mutating func writeList(
        _ cell: UnsafeRawBufferPointer,
        _ writeElement: (UnsafeRawBufferPointer, inout ResponseWriter) -> Bool
    ) -> LeafResult {
        append(UInt8(ascii: "["))
        var isFirst = true
        let isWhole = cell.forEachArrayElement { element in
            guard let element else { return false }
            if !isFirst { append(UInt8(ascii: ",")) }
            isFirst = false
            return writeElement(element, &self)
        }
        append(UInt8(ascii: "]"))
        return isWhole ? .value : .error(.malformedCell)
    }
}

extension FieldError {
    /// The error for a cell that does not have the expected binary form. This is a bug, so clients get no details.
    static let malformedCell = FieldError(
        "An internal error occurred. Try again. If the error persists, report the request ID.",
        kind: .internalError)
}

@inline(__always)
private func hexDigit(_ nibble: UInt8) -> UInt8 {
    nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") - 10 + nibble
}

extension Int64 {
    fileprivate func quotientAndModulo(_ divisor: Int64) -> (Int64, Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

/// A date of the proleptic Gregorian calendar.
///
/// The calculation uses 400-year eras that start on 1 March. In such a year the leap day is the last day, so the months
/// before it always have the same lengths.
package struct CivilDate: Equatable {
    package let year: Int
    package let month: Int
    package let day: Int

    package init(daysSince2000: Int) {
        // Days since 0000-03-01, the start of the era that contains the year 0.
        let shifted = daysSince2000 + 730_425
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }
}
