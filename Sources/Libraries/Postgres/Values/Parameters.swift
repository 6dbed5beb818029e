/// The values of the parameters `$1`, `$2`, and so on, in PostgreSQL's binary format, in one buffer.
///
/// Each `append` adds the next parameter; nil is NULL of that type. Appending never fails. Oversized
/// parameters are rejected when the pipeline is run.
package struct Parameters: Sendable {
    /// The position of one value in `bytes`; a negative length is NULL.
    struct Slot: Sendable {
        let type: PostgresType
        let start: Int
        let length: Int
    }

    private(set) var bytes: [UInt8] = []
    private(set) var slots: [Slot] = []
    /// A hash of the parameter types, in order. A statement is prepared once per signature.
    private(set) var signature: UInt64 = 0

    package init() {}

    /// The number of parameters.
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

    /// Appends an instant in microseconds since the Unix epoch. Values before PostgreSQL's range become
    /// `-infinity`.
    package mutating func append(timestamptz microseconds: Int64?) {
        appendValue(.timestamptz, microseconds) { $0.append(timestamptz: $1) }
    }

    /// Appends a date in days since 1970-01-01. Values before PostgreSQL's range become `-infinity`.
    package mutating func append(date days: Int32?) {
        appendValue(.date, days) { $0.append(date: $1) }
    }

    /// Appends text as UTF-8. With `.inferred`, the server uses the type that the statement expects, for
    /// example an enum.
    package mutating func append(text value: (some StringProtocol)?, as type: PostgresType = .text)
    {
        appendValue(type, value) { $0.append(contentsOf: $1.utf8) }
    }

    /// Appends text given as UTF-8 bytes. The server rejects invalid UTF-8.
    package mutating func append(
        utf8 value: UnsafeRawBufferPointer?, as type: PostgresType = .text
    ) {
        appendValue(type, value) { $0.append(contentsOf: $1) }
    }

    package mutating func append(bytea value: (some Sequence<UInt8>)?) {
        appendValue(.bytea, value) { $0.append(contentsOf: $1) }
    }

    /// Appends a JSON document given as UTF-8 bytes. The server rejects invalid JSON.
    package mutating func append(json value: (some Sequence<UInt8>)?) {
        appendValue(.json, value) { $0.append(contentsOf: $1) }
    }

    /// Appends a JSON document given as UTF-8 bytes. The server rejects invalid JSON.
    package mutating func append(jsonb value: (some Sequence<UInt8>)?) {
        appendValue(.jsonb, value) { bytes, value in
            bytes.append(1)  // version of jsonb's binary format
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

    /// Appends an array of the element type with the elements that `fill` appends.
    ///
    /// If `fill` throws, the parameters are left unchanged.
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
        // FNV-1a over whole words: fast, and collisions between the few type lists of a program are
        // practically impossible.
        signature = (signature ^ (UInt64(type.rawValue) &+ 1)) &* 0x0000_0100_0000_01b3
    }
}

extension [UInt8] {
    /// Moves the bytes out and leaves an empty array, so that the new owner holds the only reference and
    /// can append without copying.
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
        append(bigEndian: overflow ? Int64.min : value)  // the minimum is PostgreSQL's -infinity
    }

    mutating func append(date days: Int32) {
        let (value, overflow) = days.subtractingReportingOverflow(postgresEpochDays)
        append(bigEndian: overflow ? Int32.min : value)
    }
}

extension Parameters {
    /// Returns parameters that consist of ids.
    package static func of(_ ids: UUID...) -> Parameters {
        var parameters = Parameters()
        for id in ids { parameters.append(uuid: id) }
        return parameters
    }
}
