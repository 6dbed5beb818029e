import NIOCore

/// The units in flight on a connection in pipeline mode, used to match each reply to its command.
///
/// PostgreSQL answers commands strictly in the order in which they were sent, and its replies do not
/// name the command they belong to. This queue therefore records what was sent.
///
/// **State.** A *unit* is a run of commands that ends with one Sync message. The server executes a unit
/// as one implicit transaction: after an error it skips the rest of the unit, and the next unit starts
/// normally. Each entry holds a unit, its number of commands, and how many of them were answered.
///
/// **Invariant.** The first entry is the unit that the server is answering. Its `replyCount` never
/// exceeds its `commandCount`. A sync reply is valid only when the two are equal, because the server
/// also reports each skipped command.
///
/// **Steps.** A result, failure, or skip advances `replyCount` of the first entry. A sync removes the
/// entry. A failure when all commands have been answered comes from the commit itself, for example from
/// a deferred constraint. Any other reply breaks the protocol and yields `.violation`.
///
/// **Example.** Pipeline A has two statements, the first of them not prepared yet; pipeline B has one:
///
///     sent:    Parse a1, Sync | Execute a1, Execute a2, Sync | Execute b1, Sync
///     entries: prepare(1)     | pipeline A(2)                | pipeline B(1)
///     replies: result, sync   | failure, skipped, sync       | result, sync
///     actions: ignore, ignore | deliver(A, 0), ignore,       | deliver(B, 0),
///                             |   finish(A)                  |   finish(B)
struct PipelineState<Owner> {
    enum Unit {
        /// The preparation of one statement.
        case prepare(PreparedStatements.Key)
        /// A command of the connection itself, such as DEALLOCATE, whose outcome is ignored.
        case housekeeping
        case pipeline(Owner)
    }

    /// A reply as libpq reports it.
    enum Reply {
        case result
        case failure
        /// The command was not executed because an earlier command in its unit failed.
        case skipped
        /// The end of a unit: PGRES_PIPELINE_SYNC.
        case sync
    }

    enum Action {
        /// The result or failure belongs to the statement with this index. The index equals the
        /// statement count when the commit failed.
        case deliver(Owner, statementIndex: Int)
        case finish(Owner)
        case preparationFailed(PreparedStatements.Key)
        case ignore
        /// The reply matches no command, so the connection is out of step and must be closed.
        case violation
    }

    private struct Entry {
        let unit: Unit
        let commandCount: Int
        var replyCount = 0
    }

    private var entries = CircularBuffer<Entry>()
    /// The number of units finished since the connection was opened.
    private(set) var finishedCount = 0

    /// The number of units in flight.
    var count: Int { entries.count }

    /// The owners of the pipelines in flight, oldest first.
    var owners: [Owner] {
        entries.compactMap { if case .pipeline(let owner) = $0.unit { owner } else { nil } }
    }

    /// The owner of the pipeline that the server is executing or preparing statements for.
    var first: Owner? {
        for entry in entries {
            if case .pipeline(let owner) = entry.unit { return owner }
        }
        return nil
    }

    /// Records a unit that was sent, with the number of commands before its Sync.
    mutating func append(_ unit: Unit, commandCount: Int) {
        entries.append(Entry(unit: unit, commandCount: commandCount))
    }

    /// Records a reply and returns what to do with it.
    mutating func receive(_ reply: Reply) -> Action {
        guard let entry = entries.first else { return .violation }
        let index = entry.replyCount
        switch reply {
        case .sync:
            guard index == entry.commandCount else { return .violation }
            entries.removeFirst()
            finishedCount += 1
            if case .pipeline(let owner) = entry.unit { return .finish(owner) }
            return .ignore
        case .failure where index == entry.commandCount:
            // Every command succeeded, but the commit at Sync failed, for example on a deferred
            // constraint.
            break
        case .result, .failure, .skipped:
            guard index < entry.commandCount else { return .violation }
            entries[entries.startIndex].replyCount += 1
        }
        switch (entry.unit, reply) {
        case (.pipeline(let owner), .result), (.pipeline(let owner), .failure):
            return .deliver(owner, statementIndex: index)
        case (.prepare(let key), .failure): return .preparationFailed(key)
        default: return .ignore
        }
    }

    /// Removes all units because the connection was lost, and returns the pipelines' owners, oldest first.
    mutating func removeAll() -> [Owner] {
        defer { entries.removeAll() }
        return owners
    }
}
