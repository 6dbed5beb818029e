import GraphQLServing
import Synchronization

/// Counts the response bytes that the clients of this process have not read yet, and limits them. Also refuses new requests while
/// memory is short for another reason.
///
/// A byte counts from the moment its response is complete until the kernel accepts it. Each connection reports its
/// bytes through an `UnreadCounter`. A connection with less than 64 KiB to send counts as 0: the kernel accepts most
/// responses at once, and counting them would cost time without limiting memory.
package final class UnreadBytes: Sendable {
    package struct Limits: Sendable, Equatable {
        /// The limit on the connections of one client: an IPv4 address, or a 64-bit IPv6 network.
        package var addressMax = 64 << 20
        /// The limit on all connections of the process.
        package var processMax = 256 << 20
        /// The size of the largest response. A new request runs only if a response of this size would fit within the
        /// limits.
        package var responseMax = 8 << 20

        package init() {}

        /// Sets the size of the largest response, and raises the limits that are too low for eight of them per client.
        mutating func fit(responseBytesMax: Int) {
            // Far above the memory of any machine, but sums with it do not overflow.
            responseMax = min(responseBytesMax, 1 << 50)
            addressMax = max(addressMax, 8 * responseMax)
            processMax = max(processMax, addressMax)
        }
    }

    private struct State {
        var total = 0
        /// Contains only addresses with unread bytes.
        var byAddress: [ClientAddress: Int] = [:]
    }

    private let limits: Limits
    private let state = Mutex(State())
    /// A copy of `state.total` that can be read without the lock.
    private let currentTotal = Atomic(0)
    private let memoryShortage = Atomic(false)
    private let memoryRefusals = Atomic(0)
    private let addressRefusals = Atomic(0)
    private let processRefusals = Atomic(0)
    private let closings = Atomic(0)

    package init(_ limits: Limits = Limits()) { self.limits = limits }

    /// The unread bytes of all connections.
    package var total: Int { currentTotal.load(ordering: .relaxed) }

    /// The number of requests and responses refused because of the limit per address.
    package var addressRefusalCount: Int { addressRefusals.load(ordering: .relaxed) }
    /// The number of requests and responses refused because of the limit of the process.
    package var processRefusalCount: Int { processRefusals.load(ordering: .relaxed) }
    /// Whether the process has too little memory for new requests.
    package var isMemoryShort: Bool { memoryShortage.load(ordering: .relaxed) }
    /// The number of requests refused because memory was short.
    package var memoryRefusalCount: Int { memoryRefusals.load(ordering: .relaxed) }
    /// The number of connections closed because their clients read slowly while memory was short.
    package var closedReaderCount: Int { closings.load(ordering: .relaxed) }

    /// Sets whether the process has too little memory for new requests.
    package func set(isMemoryShort: Bool) {
        memoryShortage.store(isMemoryShort, ordering: .relaxed)
    }

    /// Returns the reason to refuse a new request of this client; nil if it may run.
    package func refusal(for client: ClientAddress?) -> UnreadRefusal? {
        if isMemoryShort {
            memoryRefusals.add(1, ordering: .relaxed)
            return UnreadRefusal(limit: .memory, bytesMax: 0)
        }
        if total == 0 { return nil }
        return state.withLock { refusal(of: limits.responseMax, for: client, $0) }
    }

    /// Counts bytes unless they exceed a limit.
    ///
    /// - Returns: The reason for the refusal; nil if the bytes were counted.
    func reserve(_ bytes: Int, for client: ClientAddress?) -> UnreadRefusal? {
        state.withLock { state in
            if let refusal = refusal(of: bytes, for: client, state) { return refusal }
            add(bytes, for: client, to: &state)
            return nil
        }
    }

    /// Counts bytes that are already in memory. A negative number subtracts.
    func add(_ bytes: Int, for client: ClientAddress?) {
        state.withLock { add(bytes, for: client, to: &$0) }
    }

    /// The used share of the limit of the address or of the process, whichever is larger.
    func usedShare(for client: ClientAddress?) -> Double {
        state.withLock { state in
            let ofAddress = client.flatMap { state.byAddress[$0.network] } ?? 0
            return max(
                Double(ofAddress) / Double(limits.addressMax),
                Double(state.total) / Double(limits.processMax))
        }
    }

    func closedReader() { closings.add(1, ordering: .relaxed) }

    private func refusal(
        of bytes: Int, for client: ClientAddress?, _ state: State
    ) -> UnreadRefusal? {
        if state.total + bytes > limits.processMax {
            processRefusals.add(1, ordering: .relaxed)
            return UnreadRefusal(limit: .process, bytesMax: limits.processMax)
        }
        let ofAddress = client.flatMap { state.byAddress[$0.network] } ?? 0
        if ofAddress + bytes > limits.addressMax {
            addressRefusals.add(1, ordering: .relaxed)
            return UnreadRefusal(limit: .address, bytesMax: limits.addressMax)
        }
        return nil
    }

    private func add(_ bytes: Int, for client: ClientAddress?, to state: inout State) {
        state.total += bytes
        currentTotal.store(state.total, ordering: .relaxed)
        guard let network = client?.network else { return }
        let ofAddress = state.byAddress[network, default: 0] + bytes
        state.byAddress[network] = ofAddress == 0 ? nil : ofAddress
    }
}

extension ClientAddress {
    /// The IPv4 address, or the 64-bit network of the IPv6 address. Each counts as one client.
    var network: ClientAddress {
        let isV4 = high == 0 && low >> 32 == 0xFFFF
        return isV4 ? self : ClientAddress(high: high, low: 0)
    }
}
