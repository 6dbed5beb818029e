import CLibPQ

/// The arrays in which libpq wants parameters, kept from one statement to the next.
struct ParameterScratch {
    private var values: [UnsafePointer<CChar>?] = []
    private var lengths: [Int32] = []
    private var types: [Oid] = []
    /// As many ones as there were parameters at most: all are binary.
    private var formats: [Int32] = []

    /// An address for empty values, as libpq takes a null pointer for NULL. Nobody reads or writes there.
    nonisolated(unsafe) private static let empty = UnsafePointer(
        UnsafeMutablePointer<CChar>.allocate(capacity: 1))

    /// Queues the execution of a prepared statement; false where libpq refuses, with the connection lost.
    mutating func execute(
        _ name: String, _ parameters: Parameters, on connection: OpaquePointer
    ) -> Bool {
        parameters.bytes.withUnsafeBytes { bytes in
            fill(parameters, bytes)
            return PQsendQueryPrepared(
                connection, name, Int32(parameters.count), values, lengths, formats, 1) == 1
        }
    }

    /// Runs a statement that is not prepared, and blocks until its result is there.
    mutating func run(
        _ text: String, _ parameters: Parameters, on connection: OpaquePointer
    ) -> OpaquePointer? {
        parameters.bytes.withUnsafeBytes { bytes in
            fill(parameters, bytes)
            return PQexecParams(
                connection, text, Int32(parameters.count), types, values, lengths, formats, 1)
        }
    }

    /// Queues the preparation of a statement for parameters of these types.
    mutating func prepare(
        _ name: String, _ text: String, _ parameters: Parameters, on connection: OpaquePointer
    ) -> Bool {
        fill(parameters, UnsafeRawBufferPointer(start: nil, count: 0))
        return PQsendPrepare(connection, name, text, Int32(parameters.count), types) == 1
    }

    /// The values point into the bytes.
    private mutating func fill(_ parameters: Parameters, _ bytes: UnsafeRawBufferPointer) {
        values.removeAll(keepingCapacity: true)
        lengths.removeAll(keepingCapacity: true)
        types.removeAll(keepingCapacity: true)
        let base = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
        for slot in parameters.slots {
            let isNull = slot.length < 0
            values.append(isNull ? nil : base.map { $0 + slot.start } ?? ParameterScratch.empty)
            lengths.append(isNull ? 0 : Int32(truncatingIfNeeded: slot.length))
            types.append(slot.type.rawValue)
        }
        while formats.count < parameters.count { formats.append(1) }
    }
}
