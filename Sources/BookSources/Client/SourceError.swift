import HTTPFetch

/// Why a source could not answer. That it does not know a book is an answer.
package enum SourceError: Error, Equatable, Sendable {
    case unreachable(FetchError)
    /// It, or our own pace, would not let us ask before the deadline.
    case busy
    /// A status that is no answer.
    case status(Int)
    /// What came is not what the source is known to send.
    case malformed
}
