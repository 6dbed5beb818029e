import BookSources
import Synchronization

/// A book source that looks records up in a dictionary and keeps the requests that it received.
package final class TestSource: Sendable {
    private let records: [String: BookRecord]
    private let state = Mutex<State>(State())

    private struct State {
        var requests: [String] = []
        var error: SourceError?
        /// Ends when requests may be answered.
        var gate: AsyncStream<Never>?
    }

    /// - Parameter records: by ISBN-13.
    package init(_ records: [String: BookRecord] = [:]) { self.records = records }

    package func source(_ name: SourceName) -> BookSource {
        BookSource(
            name: name,
            edition: { number, _ async throws(SourceError) in
                if let error = self.record(number.isbn13) { throw error }
                if let gate = self.state.withLock({ $0.gate }) { for await _ in gate {} }
                return self.records[number.isbn13]
            },
            search: { words, count, _ async throws(SourceError) in
                if let error = self.record("\(words)") { throw error }
                return Array(
                    self.records.sorted { $0.key < $1.key }.map(\.value).prefix(count))
            })
    }

    /// Adds a request to the list, and returns the error that it fails with, if any.
    private func record(_ request: String) -> SourceError? {
        state.withLock { state in
            state.requests.append(request)
            return state.error
        }
    }

    /// Makes every later request fail with an error; nil makes requests succeed again.
    package func fail(with error: SourceError?) { state.withLock { $0.error = error } }

    /// Lets lookups by ISBN wait until `gate` ends. At most one may wait at a time.
    package func hold(by gate: AsyncStream<Never>) { state.withLock { $0.gate = gate } }

    /// The ISBNs and search words that were requested, in order.
    package var requests: [String] { state.withLock { $0.requests } }
}
