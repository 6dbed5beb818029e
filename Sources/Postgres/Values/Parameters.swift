/// The values of `$1`, `$2` and so on, in PostgreSQL's binary format, in one growing buffer.
///
/// Each `append` takes the next number. An absent value is NULL of that type. Appending never fails;
/// what is too large is refused when the segment is run.
package struct Parameters: Sendable {
    /// One value: where it lies in `bytes`; a negative length is NULL.
    struct Slot: Sendable {
        let type: PostgresType
        let start: Int
        let length: Int
    }

    private(set) var bytes: [UInt8] = []
    private(set) var slots: [Slot] = []
    /// Differs between lists of types: a statement is prepared once for each.
    private(set) var signature: UInt64 = 0

    package init() {}

    /// How many values there are.
    package var count: Int { slots.count }

    package mutating func appendNull(_ type: PostgresType) {
        append(type, start: bytes.count, length: -1)
    }

    package mutating func append(bool value: Bool?) {
        appendValue(.bool, value) { $0.append($1 ? 1 : 0) }
    }

    package mutating func append(int32 value: Int32?) {
        appendValue(.int32, value) { $0.append(bigEndian: $1) }
    }

    package mutating func append(int64 value: Int64?) {
        appendValue(.int64, value) { $0.append(bigEndian: $1) }
    }

    package mutating func append(float8 value: Double?) {
        appendValue(.float8, value) { $0.append(bigEndian: $1.bitPattern) }
    }

    package mutating func append(uuid value: UUID?) {
        appendValue(.uuid, value) { $0.append($1) }
    }

    /// An instant in microseconds of Unix time; what is before PostgreSQL's range becomes `-infinity`.
    package mutating func append(timestamptz microseconds: Int64?) {
        appendValue(.timestamptz, microseconds) { $0.append(timestamptz: $1) }
    }

    /// A date in days since 1970-01-01; what is before PostgreSQL's range becomes `-infinity`.
    package mutating func append(date days: Int32?) {
        appendValue(.date, days) { $0.append(date: $1) }
    }

    /// Text in UTF-8. With `.inferred` the server takes the type of the place, an enum's for instance.
    package mutating func append(text value: (some StringProtocol)?, as type: PostgresType = .text)
    {
        appendValue(type, value) { $0.append(contentsOf: $1.utf8) }
    }

    /// Text that is at hand as UTF-8 bytes. The server refuses bytes that are not UTF-8.
    package mutating func append(
        utf8 value: UnsafeRawBufferPointer?, as type: PostgresType = .text
    ) {
        appendValue(type, value) { $0.append(contentsOf: $1) }
    }

    package mutating func append(bytea value: (some Sequence<UInt8>)?) {
        appendValue(.bytea, value) { $0.append(contentsOf: $1) }
    }

    /// A JSON document as UTF-8. The server refuses what is not JSON.
    package mutating func append(json value: (some Sequence<UInt8>)?) {
        appendValue(.json, value) { $0.append(contentsOf: $1) }
    }

    /// A JSON document as UTF-8. The server refuses what is not JSON.
    package mutating func append(jsonb value: (some Sequence<UInt8>)?) {
        appendValue(.jsonb, value) { bytes, value in
            bytes.append(1)  // the version of the binary format
            bytes.append(contentsOf: value)
        }
    }

    package mutating func append(uuids values: some Sequence<UUID>) {
        appendArray(of: .uuid) { elements in
            for value in values { elements.append(uuid: value) }
        }
    }

    package mutating func append(texts values: some Sequence<some StringProtocol>) {
        appendArray(of: .text) { elements in
            for value in values { elements.append(text: value) }
        }
    }

    package mutating func append(int32s values: some Sequence<Int32>) {
        appendArray(of: .int32) { elements in
            for value in values { elements.append(int32: value) }
        }
    }

    package mutating func append(int64s values: some Sequence<Int64>) {
        appendArray(of: .int64) { elements in
            for value in values { elements.append(int64: value) }
        }
    }

    /// An array of the type, of the elements that `fill` appends.
    package mutating func appendArray<Failure: Error>(
        of type: PostgresType, _ fill: (inout ArrayElements) throws(Failure) -> Void
    ) throws(Failure) {
        let start = bytes.count
        var elements = ArrayElements(of: type, after: bytes.take())
        do throws(Failure) {
            try fill(&elements)
        } catch {
            bytes = elements.end()
            bytes.removeSubrange(start...)
            throw error
        }
        bytes = elements.end()
        append(type.array, start: start, length: bytes.count - start)
    }

    private mutating func appendValue<Value>(
        _ type: PostgresType, _ value: Value?, _ write: (inout [UInt8], Value) -> Void
    ) {
        guard let value else { return appendNull(type) }
        let start = bytes.count
        write(&bytes, value)
        append(type, start: start, length: bytes.count - start)
    }

    private mutating func append(_ type: PostgresType, start: Int, length: Int) {
        slots.append(Slot(type: type, start: start, length: length))
        // FNV-1a over whole words: cheap, and two lists of a program's few types do not meet by chance.
        signature = (signature ^ (UInt64(type.rawValue) &+ 1)) &* 0x0000_0100_0000_01b3
    }
}

extension [UInt8] {
    /// The bytes, leaving none here, so that their new owner holds the only reference and grows them in place.
    mutating func take() -> [UInt8] {
        var taken: [UInt8] = []
        swap(&self, &taken)
        return taken
    }

    mutating func append(bigEndian value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }

    mutating func append(_ value: UUID) {
        append(bigEndian: value.high)
        append(bigEndian: value.low)
    }

    mutating func append(timestamptz microseconds: Int64) {
        let (value, overflow) = microseconds.subtractingReportingOverflow(postgresEpochMicroseconds)
        append(bigEndian: overflow ? Int64.min : value)  // PostgreSQL's -infinity
    }

    mutating func append(date days: Int32) {
        let (value, overflow) = days.subtractingReportingOverflow(postgresEpochDays)
        append(bigEndian: overflow ? Int32.min : value)
    }
}
