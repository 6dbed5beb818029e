import Synchronization

/// The texts of automatic persisted queries, which clients have registered by hash. All event loops share them.
///
/// They are stored only in memory. If a server does not have a hash, because it has restarted or another server has
/// registered it, the client sends one more request with the text. A table that unauthenticated clients can fill would
/// need quotas and a cleanup job. Only valid documents are registered. At the maximum size, the least recently used
/// half is removed.
package final class PersistedQueries: Sendable {
    private struct State {
        var entries: [String: (text: [UInt8], lastUsed: UInt64)] = [:]
        var bytesCount = 0
        var clock: UInt64 = 0
    }

    private let state = Mutex(State())
    private let countMax: Int
    private let bytesMax: Int

    package init(countMax: Int = 10_000, bytesMax: Int = 16 << 20) {
        self.countMax = countMax
        self.bytesMax = bytesMax
    }

    /// Returns the text with a hash, which is given in lower-case hexadecimal digits.
    func text(of hash: String) -> [UInt8]? {
        state.withLock { state in
            state.clock += 1
            guard let entry = state.entries[hash] else { return nil }
            state.entries[hash]?.lastUsed = state.clock
            return entry.text
        }
    }

    func insert(_ text: [UInt8], hash: String) {
        state.withLock { state in
            guard state.entries[hash] == nil, text.count <= bytesMax else { return }
            if state.entries.count >= countMax || state.bytesCount + text.count > bytesMax {
                let median = state.entries.values.map(\.lastUsed).sorted()[state.entries.count / 2]
                state.entries = state.entries.filter { $0.value.lastUsed > median }
                state.bytesCount = state.entries.values.reduce(0) { $0 + $1.text.count }
            }
            state.clock += 1
            state.entries[hash] = (text, state.clock)
            state.bytesCount += text.count
        }
    }
}
