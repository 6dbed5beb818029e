/// Encodes the elements of an array parameter in PostgreSQL's binary format.
///
/// Append only values of the array's element type. The format is that of the server's `array_send`, in
/// 32-bit big-endian words: number of dimensions (1, or 0 if empty), null flag, element type OID,
/// element count, lower bound (1), and then each element as its length (-1 for NULL) and its bytes.
///
/// Example: `{7}` as int4[] is `1, 0, 23, 1, 1, 4, 7`. An empty array ends after the element type.
package struct ArrayElements: ~Copyable {
    private var bytes: [UInt8]
    private let start: Int
    private let type: PostgresType
    private var hasNull = false
    /// The number of elements appended so far.
    package private(set) var count = 0

    private static let headerBytes = 20
    private static let headerBytesOfEmpty = 12

    init(of type: PostgresType, after bytes: consuming [UInt8]) {
        self.bytes = bytes
        self.type = type
        start = self.bytes.count
        self.bytes.append(contentsOf: repeatElement(0, count: ArrayElements.headerBytes))
    }

    /// Writes the header and returns the bytes.
    consuming func end() -> [UInt8] {
        if count == 0 {
            bytes.removeSubrange((start + ArrayElements.headerBytesOfEmpty)...)
        }
        let header: [UInt32] = [
            count == 0 ? 0 : 1, hasNull ? 1 : 0, type.rawValue, UInt32(truncatingIfNeeded: count),
            1,
        ]
        bytes.withUnsafeMutableBytes { buffer in
            for (index, word) in header.enumerated() where start + index * 4 < buffer.count {
                buffer.storeBytes(
                    of: word.bigEndian, toByteOffset: start + index * 4, as: UInt32.self)
            }
        }
        return bytes
    }

    package mutating func appendNull() {
        bytes.append(bigEndian: Int32(-1))
        hasNull = true
        count += 1
    }

    package mutating func append(bool value: Bool?) {
        appendValue(value) { $0.append($1 ? 1 : 0) }
    }

    package mutating func append(int32 value: Int32?) {
        appendValue(value) { $0.append(bigEndian: $1) }
    }

    package mutating func append(int64 value: Int64?) {
        appendValue(value) { $0.append(bigEndian: $1) }
    }

    package mutating func append(float8 value: Double?) {
        appendValue(value) { $0.append(bigEndian: $1.bitPattern) }
    }

    package mutating func append(uuid value: UUID?) {
        appendValue(value) { $0.append($1) }
    }

    package mutating func append(timestamptz microseconds: Int64?) {
        appendValue(microseconds) { $0.append(timestamptz: $1) }
    }

    package mutating func append(date days: Int32?) {
        appendValue(days) { $0.append(date: $1) }
    }

    package mutating func append(text value: (some StringProtocol)?) {
        appendValue(value) { $0.append(contentsOf: $1.utf8) }
    }

    /// Appends a value that is already in the binary format of the element type, such as a result's cell.
    package mutating func append(cell: UnsafeRawBufferPointer?) {
        appendValue(cell) { $0.append(contentsOf: $1) }
    }

    private mutating func appendValue<Value>(
        _ value: Value?, _ write: (inout [UInt8], Value) -> Void
    ) {
        guard let value else { return appendNull() }
        let start = bytes.count
        bytes.append(bigEndian: Int32(0))
        write(&bytes, value)
        let length = UInt32(truncatingIfNeeded: bytes.count - start - 4)
        bytes.withUnsafeMutableBytes {
            $0.storeBytes(of: length.bigEndian, toByteOffset: start, as: UInt32.self)
        }
        count += 1
    }
}
