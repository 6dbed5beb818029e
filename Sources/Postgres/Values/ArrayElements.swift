/// The elements of an array parameter, appended one after the other; values of the array's type only.
///
/// The binary format is `array_send`'s: the number of dimensions, a flag for nulls, the element type,
/// then size and lower bound of the dimension, then each element after its length. All are 32-bit.
package struct ArrayElements: ~Copyable {
    private var bytes: [UInt8]
    private let start: Int
    private let type: PostgresType
    private var hasNull = false
    /// How many elements there are.
    package private(set) var count = 0

    private static let headerBytes = 20
    private static let headerBytesOfEmpty = 12

    init(of type: PostgresType, after bytes: consuming [UInt8]) {
        self.bytes = bytes
        self.type = type
        start = self.bytes.count
        self.bytes.append(contentsOf: repeatElement(0, count: ArrayElements.headerBytes))
    }

    /// Writes the header and hands the bytes back.
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

    /// A value that is at hand in the binary format of the array's type, such as a cell of a result.
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
