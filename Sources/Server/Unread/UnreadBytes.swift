import Synchronization

/// Counts the response bytes that the clients of this process have not read yet, and limits them.
///
/// A byte counts from the moment its response is complete until the kernel has taken it. Each connection reports its bytes
/// through an `UnreadAccount`. A connection with less than 64 KiB to send counts as having none: most responses are taken
/// by the kernel at once, and cost nothing here.
package final class UnreadBytes: Sendable {
    package struct Limits: Sendable, Equatable {
        /// The limit on the connections of one client address: IPv4, or a network of 64 bits of IPv6.
        package var addressMax = 64 << 20
        /// The limit on all connections.
        package var processMax = 256 << 20
        /// The largest response. New requests are run only while there is room for one.
        package var responseMax = 8 << 20

        package init() {}
    }

    private struct State {
        var total = 0
        /// Without the addresses that have none.
        var byAddress: [ClientAddress: Int] = [:]
    }

    private let limits: Limits
    private let state = Mutex(State())
    /// The same as in `state`, to be read without the lock.
    private let currentTotal = Atomic(0)
    private let addressRefusals = Atomic(0)
    private let processRefusals = Atomic(0)
    private let closings = Atomic(0)

    package init(_ limits: Limits = Limits()) { self.limits = limits }

    /// The unread bytes of all connections.
    package var total: Int { currentTotal.load(ordering: .relaxed) }

    /// How many responses and requests were refused for the limit of their address.
    package var addressRefusalCount: Int { addressRefusals.load(ordering: .relaxed) }
    /// How many responses and requests were refused for the limit of the process.
    package var processRefusalCount: Int { processRefusals.load(ordering: .relaxed) }
    /// How many connections were closed because their clients read slowly while memory was short.
    package var closedReaderCount: Int { closings.load(ordering: .relaxed) }

    /// Why a new request of this client is not run; nil if it may run.
    func refusal(for client: ClientAddress?) -> UnreadRefusal? {
        if total == 0 { return nil }
        return state.withLock { refusal(of: limits.responseMax, for: client, $0) }
    }

    /// Counts bytes unless they would exceed a limit.
    ///
    /// - Returns: why they are refused; nil if they were counted.
    func take(_ bytes: Int, for client: ClientAddress?) -> UnreadRefusal? {
        state.withLock { state in
            if let refusal = refusal(of: bytes, for: client, state) { return refusal }
            add(bytes, for: client, to: &state)
            return nil
        }
    }

    /// Counts bytes that are in memory already, or fewer where the number is negative.
    func add(_ bytes: Int, for client: ClientAddress?) {
        state.withLock { add(bytes, for: client, to: &$0) }
    }

    /// The share of the limits that is used, of the address or of the process, whichever is larger.
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
    /// An IPv4 address, or the network of 64 bits of an IPv6 address: each counts as one client.
    fileprivate var network: ClientAddress {
        let isV4 = high == 0 && low >> 32 == 0xFFFF
        return isV4 ? self : ClientAddress(high: high, low: 0)
    }
}
