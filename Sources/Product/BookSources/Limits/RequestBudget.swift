/// Decides whether one more request may be sent to a host today.
///
/// The product implements it with a count that all servers share; this module has no database.
package struct RequestBudget: Sendable {
    package enum Decision: Sendable, Equatable {
        /// The request was counted and may be sent.
        case granted
        /// No request is left for this priority until the budget is reset.
        case exhausted(resetsIn: Duration)
        /// The count could not be read, so nothing may be sent.
        case unknown
    }

    /// Takes one request from the budget.
    package var take: @Sendable (SourceHost, RequestPriority) async -> Decision

    package init(
        take: @escaping @Sendable (SourceHost, RequestPriority) async -> Decision
    ) {
        self.take = take
    }

    package static let unlimited = RequestBudget { _, _ in .granted }
}
