import EventLoops
import GraphQL
import GraphQLServing

/// Limits the time for which the JSON of a request keeps an event loop busy, whatever transport has received it.
package enum RequestJSON {
    /// The maximum size of JSON that is parsed on the event loop, in bytes.
    package static let shortBytesMax = 32 << 10
    /// The maximum number of values. Coercing them and releasing their memory takes some milliseconds of the event loop.
    package static let valuesMax = 10_000
    /// The number of seconds after which a client whose address has too many large requests in progress can try again.
    package static let retrySeconds = 5

    /// The threads that parse large JSON, by address.
    private static let threads = WorkThreads<ClientAddress?>(waitingOfKeyMax: 64, waitingMax: 1024)

    /// Parses the JSON of a request. The limit on the number of bytes has been enforced while they arrived.
    package static func parse(_ bytes: [UInt8]) throws(JSONError) -> Value {
        try parseJSON(bytes, limits: JSONLimits(bytesMax: bytes.count, valuesMax: valuesMax))
    }

    /// Reads JSON: on the event loop if it is short, and otherwise on a thread, for which addresses take turns.
    ///
    /// - Parameter isShort: Whether `read` needs no file and at most `shortBytesMax` bytes.
    /// - Returns: The result, or nil if too many large requests of the address, or of all addresses, wait.
    package static func read<Value: Sendable>(
        isShort: Bool, from client: ClientAddress?, _ read: @escaping @Sendable () -> Value
    ) async -> Value? {
        if isShort { return read() }
        return await threads.run(for: client?.network, read)
    }
}
