import Synchronization

/// Texts that clients registered by their hash (automatic persisted queries), for all event loops of the process.
///
/// They are kept in memory only. A server that does not know a hash, because it is another one or has started again, costs
/// the client one request more, in which it sends the text; a table that strangers fill would need limits and a cleaning
/// of its own. Only valid documents come here. The older half is forgotten when there is no more room.
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

    /// The text with that hash, in lower-case hexadecimal digits.
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
