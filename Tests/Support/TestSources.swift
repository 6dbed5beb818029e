import BookSources
import Synchronization

/// A source that answers from a table, and remembers what it was asked.
package final class TestSource: Sendable {
    private let records: [String: BookRecord]
    private let state = Mutex<State>(State())

    private struct State {
        var asked: [String] = []
        var error: SourceError?
    }

    /// - Parameter records: by ISBN-13.
    package init(_ records: [String: BookRecord] = [:]) { self.records = records }

    package func source(_ name: SourceName) -> BookSource {
        BookSource(
            name: name,
            edition: { number, _ async throws(SourceError) in
                if let error = self.ask(number.isbn13) { throw error }
                return self.records[number.isbn13]
            },
            search: { words, count, _ async throws(SourceError) in
                if let error = self.ask("\(words)") { throw error }
                return Array(
                    self.records.sorted { $0.key < $1.key }.map(\.value).prefix(count))
            })
    }

    private func ask(_ question: String) -> SourceError? {
        state.withLock { state in
            state.asked.append(question)
            return state.error
        }
    }

    /// From now on it cannot answer; nil lets it answer again.
    package func fail(with error: SourceError?) { state.withLock { $0.error = error } }

    /// ISBNs and words in the order in which they were asked for.
    package var asked: [String] { state.withLock { $0.asked } }
}
