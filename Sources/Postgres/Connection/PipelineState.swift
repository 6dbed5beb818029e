import NIOCore

/// What is under way on a connection in pipeline mode, in the order of sending: what each reply belongs to.
///
/// A unit is what ends with one Sync. An error skips the rest of its unit and nothing else.
struct PipelineState<Owner> {
    enum Unit {
        /// A statement is being prepared.
        case prepare(PreparedStatements.Key)
        /// Something of the connection's own, whose outcome does not matter.
        case housekeeping
        case segment(Owner)
    }

    /// What libpq reports, one after the other.
    enum Reply {
        case result
        case failure
        /// A command was not run, for one before it in its unit had failed.
        case skipped
        /// The end of a unit.
        case sync
    }

    enum Action {
        /// The result, or the first failure, of a segment's statement with this index.
        case deliver(Owner, statementIndex: Int)
        case finish(Owner)
        case preparationFailed(PreparedStatements.Key)
        case ignore
        /// A reply that nothing was sent for: the connection cannot be trusted any more.
        case violation
    }

    private struct Entry {
        let unit: Unit
        let commandCount: Int
        var replyCount = 0
    }

    private var entries = CircularBuffer<Entry>()
    /// How many units are over.
    private(set) var finishedCount = 0

    /// How many units await replies.
    var count: Int { entries.count }

    /// The segments under way, first sent first.
    var owners: [Owner] {
        entries.compactMap { if case .segment(let owner) = $0.unit { owner } else { nil } }
    }

    /// The segment that the server works on, or prepares for.
    var first: Owner? {
        for entry in entries {
            if case .segment(let owner) = entry.unit { return owner }
        }
        return nil
    }

    /// A unit has been sent.
    mutating func append(_ unit: Unit, commandCount: Int) {
        entries.append(Entry(unit: unit, commandCount: commandCount))
    }

    mutating func receive(_ reply: Reply) -> Action {
        guard let entry = entries.first else { return .violation }
        let index = entry.replyCount
        switch reply {
        case .sync:
            guard index == entry.commandCount else { return .violation }
            entries.removeFirst()
            finishedCount += 1
            if case .segment(let owner) = entry.unit { return .finish(owner) }
            return .ignore
        case .failure where index == entry.commandCount:
            // All commands went well and the commit at Sync did not: a deferred constraint, say.
            break
        case .result, .failure, .skipped:
            guard index < entry.commandCount else { return .violation }
            entries[entries.startIndex].replyCount += 1
        }
        switch (entry.unit, reply) {
        case (.segment(let owner), .result), (.segment(let owner), .failure):
            return .deliver(owner, statementIndex: index)
        case (.prepare(let key), .failure): return .preparationFailed(key)
        default: return .ignore
        }
    }

    /// Forgets everything, for the connection is gone; the segments are given back in their order.
    mutating func removeAll() -> [Owner] {
        defer { entries.removeAll() }
        return owners
    }
}
