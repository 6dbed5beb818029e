import HTTPFetch

/// The reason why a request to a source failed. A response that a book is unknown is not an error.
package enum SourceError: Error, Equatable, Sendable {
    case unreachable(FetchError)
    /// The source's rate limit does not allow a request before the deadline.
    case busy
    /// Too many requests of the reader wait for the source.
    case tooManyWaiting
    /// A response with an unexpected status.
    case status(Int)
    /// A response that does not have the expected form.
    case malformed
    /// The source could not be reached several times in a row, and requests are refused for a while.
    case circuitOpen
    /// The daily budget of requests is used up.
    case budgetExhausted
    /// The daily budget could not be read from the database.
    case budgetUnknown

    /// Whether the request was refused because the source is paused. Pauses are reported once, as a `SourceEvent`.
    package var isPause: Bool { self == .circuitOpen || self == .budgetExhausted }
}

extension SourceError: CustomStringConvertible {
    /// A message for logs and operators.
    package var description: String {
        switch self {
        case .unreachable(let error): "\(error)"
        case .busy: "its rate limit allows no request now"
        case .tooManyWaiting: "too many requests of one reader wait for it"
        case .status(let status): "status \(status)"
        case .malformed: "the response is malformed"
        case .circuitOpen: "it could not be reached several times in a row"
        case .budgetExhausted: "the daily budget is used up"
        case .budgetUnknown: "the daily budget cannot be read"
        }
    }
}
