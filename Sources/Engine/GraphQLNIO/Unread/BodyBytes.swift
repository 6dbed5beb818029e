import GraphQLServing
import Synchronization

/// Counts the bytes of the request bodies that this process holds, and limits them.
///
/// A body counts from the moment more than `freeBytesMax` bytes of it have arrived until its request has ended. Without a limit,
/// clients could fill the memory with large bodies whose last bytes they do not send.
final class BodyBytes: Sendable {
    /// Bodies up to this size are not counted, which would cost time without limiting memory.
    static let freeBytesMax = 64 << 10

    private struct State {
        var total = 0
        /// Contains only addresses with counted bytes.
        var byAddress: [ClientAddress: Int] = [:]
    }

    private let addressMax: Int
    private let processMax: Int
    private let state = Mutex(State())

    init(_ limits: HTTPLimits) {
        addressMax = limits.bodyBytesPerAddressMax
        processMax = limits.bodyBytesOfProcessMax
    }

    /// Counts bytes unless they exceed a limit.
    ///
    /// - Returns: The reason to refuse the body; nil if the bytes were counted.
    func add(_ bytes: Int, for client: ClientAddress?) -> HTTPProblem? {
        let network = client?.network
        return state.withLock { state in
            let ofAddress = network.flatMap { state.byAddress[$0] } ?? 0
            if state.total + bytes > processMax { return Self.processProblem }
            if ofAddress + bytes > addressMax { return Self.addressProblem }
            state.total += bytes
            if let network { state.byAddress[network] = ofAddress + bytes }
            return nil
        }
    }

    /// Subtracts bytes that were counted.
    func remove(_ bytes: Int, for client: ClientAddress?) {
        state.withLock { state in
            state.total -= bytes
            guard let network = client?.network else { return }
            let left = (state.byAddress[network] ?? 0) - bytes
            state.byAddress[network] = left > 0 ? left : nil
        }
    }

    private static let addressProblem = HTTPProblem.applicationError(
        .tooManyRequests, code: "RATE_LIMITED",
        "Too many large requests from your address are in progress. Try again soon.",
        retryAfterSeconds: 5)
    private static let processProblem = HTTPProblem.applicationError(
        .serviceUnavailable, code: "SERVICE_UNAVAILABLE",
        "The server receives too many large requests at the moment. Try again soon.",
        retryAfterSeconds: 5)
}
