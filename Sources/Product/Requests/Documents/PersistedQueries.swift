import Synchronization

/// The texts of automatic persisted queries, which clients have registered by hash. All event loops share them.
///
/// A server that does not have a hash looks for it in the database, where all servers add what clients register
/// (`SharedDocuments`). Only valid documents are registered. At the maximum size, the least recently used half is removed.
package final class PersistedQueries: Sendable {
    private struct State {
        var entries: [String: (text: [UInt8], lastUsed: UInt64)] = [:]
        var bytesCount = 0
        var clock: UInt64 = 0
    }

    private let state = Mutex(State())
    private let countMax: Int
    private let bytesMax: Int

    static let countMax = 10_000
    static let bytesMax = 16 << 20

    package init(countMax: Int = countMax, bytesMax: Int = bytesMax) {
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

    /// - Returns: Whether the text is new.
    @discardableResult
    func insert(_ text: [UInt8], hash: String) -> Bool {
        state.withLock { state in
            guard state.entries[hash] == nil, text.count <= bytesMax else { return false }
            if state.entries.count >= countMax || state.bytesCount + text.count > bytesMax {
                let median = state.entries.values.map(\.lastUsed).sorted()[state.entries.count / 2]
                state.entries = state.entries.filter { $0.value.lastUsed > median }
                state.bytesCount = state.entries.values.reduce(0) { $0 + $1.text.count }
            }
            state.clock += 1
            state.entries[hash] = (text, state.clock)
            state.bytesCount += text.count
            return true
        }
    }
}
