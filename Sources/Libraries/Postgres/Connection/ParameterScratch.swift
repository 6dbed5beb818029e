import CLibPQ

/// The C arrays through which libpq receives parameters, reused from one statement to the next.
struct ParameterScratch {
    private var values: [UnsafePointer<CChar>?] = []
    private var lengths: [Int32] = []
    private var types: [Oid] = []
    /// Format code 1 (binary) for each parameter; grows to the largest parameter count seen.
    private var formats: [Int32] = []

    /// The address for empty values, because libpq takes a null pointer for NULL. It is never dereferenced.
    nonisolated(unsafe) private static let empty = UnsafePointer(
        UnsafeMutablePointer<CChar>.allocate(capacity: 1))

    /// Queues the execution of a prepared statement with the parameters; results are binary.
    ///
    /// - Returns: False if libpq refused it, after which the connection must be closed.
    mutating func execute(
        _ name: String, _ parameters: Parameters, on connection: OpaquePointer
    ) -> Bool {
        parameters.bytes.withUnsafeBytes { bytes in
            fill(parameters, bytes)
            return PQsendQueryPrepared(
                connection, name, Int32(parameters.count), values, lengths, formats, 1) == 1
        }
    }

    /// Runs a statement without preparing it, and blocks until its result has arrived.
    ///
    /// - Returns: A result for the caller to free, or nil if libpq could not send the statement.
    mutating func run(
        _ text: String, _ parameters: Parameters, on connection: OpaquePointer
    ) -> OpaquePointer? {
        parameters.bytes.withUnsafeBytes { bytes in
            fill(parameters, bytes)
            return PQexecParams(
                connection, text, Int32(parameters.count), types, values, lengths, formats, 1)
        }
    }

    /// Sends a statement without preparing it; results are binary.
    ///
    /// - Returns: False if libpq could not send it.
    mutating func send(
        _ text: String, _ parameters: Parameters, on connection: OpaquePointer
    ) -> Bool {
        parameters.bytes.withUnsafeBytes { bytes in
            fill(parameters, bytes)
            return PQsendQueryParams(
                connection, text, Int32(parameters.count), types, values, lengths, formats, 1) == 1
        }
    }

    /// Queues the preparation of a statement for parameters of these types; the values are not used.
    ///
    /// - Returns: False if libpq refused it, after which the connection must be closed.
    mutating func prepare(
        _ name: String, _ text: String, _ parameters: Parameters, on connection: OpaquePointer
    ) -> Bool {
        fill(parameters, UnsafeRawBufferPointer(start: nil, count: 0))
        return PQsendPrepare(connection, name, text, Int32(parameters.count), types) == 1
    }

    /// Fills the arrays; the pointers in `values` are valid as long as `bytes`.
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
