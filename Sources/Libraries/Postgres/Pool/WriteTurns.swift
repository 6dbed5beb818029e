import Synchronization

/// Lets one pool at a time send writes of a user. The writes of one user wait for each other's locks, so without turns the pools of
/// all event loops could have a connection that only waits.
///
/// **State.** For each user with a turn, the pool that has it, and the pools that wait for the next one, once each.
///
/// **Steps.**
/// 1. A pool calls `take` before it sends a write. If another pool has the turn, the write stays in its queue.
/// 2. The pool with the turn sends further writes while no other pool waits.
/// 3. When it has no write of the user in flight any more, it calls `end`, which gives the turn to the pool that has waited longest.
/// 4. `end` calls `turnCame` of that pool. If its connections are busy at that moment, it keeps the turn until one is free, or until
///    the write times out, because other pools could otherwise overtake it again and again.
///
/// **Example.** Two devices of a reader send 100 writes each, to different event loops. Their writes alternate, and use one
/// connection at a time.
package final class WriteTurns: Sendable {
    private struct Turn {
        var pool: ConnectionPool
        var waiting: [ConnectionPool] = []
    }

    private let turns = Mutex<[PipelineOwner: Turn]>([:])

    package init() {}

    /// Takes the turn of a user, or waits for it.
    ///
    /// - Parameter isWriting: Whether the pool has writes of the user in flight.
    /// - Returns: Whether the pool may send a write. If not, `turnCame` of the pool is called later.
    func take(_ owner: PipelineOwner, _ pool: ConnectionPool, isWriting: Bool) -> Bool {
        turns.withLock { turns in
            guard let turn = turns[owner] else {
                turns[owner] = Turn(pool: pool)
                return true
            }
            if turn.pool === pool, turn.waiting.isEmpty || !isWriting { return true }
            if !turn.waiting.contains(where: { $0 === pool }) {
                turns[owner]?.waiting.append(pool)
            }
            return false
        }
    }

    /// Ends the turn of a pool that has no write of the user in flight. Does nothing if it does not have the turn.
    func end(_ owner: PipelineOwner, _ pool: ConnectionPool) {
        let next = turns.withLock { turns in Self.end(owner, pool, in: &turns) }
        next?.turnCame(for: owner)
    }

    /// Ends all turns of a pool, which is being closed.
    func leave(_ pool: ConnectionPool) {
        let next = turns.withLock { turns in
            for owner in turns.keys { turns[owner]?.waiting.removeAll { $0 === pool } }
            return turns.keys.compactMap { owner in
                Self.end(owner, pool, in: &turns).map { (owner, $0) }
            }
        }
        for (owner, pool) in next { pool.turnCame(for: owner) }
    }

    /// - Returns: The pool that has the turn now, if it has changed.
    private static func end(
        _ owner: PipelineOwner, _ pool: ConnectionPool, in turns: inout [PipelineOwner: Turn]
    ) -> ConnectionPool? {
        guard let turn = turns[owner], turn.pool === pool else { return nil }
        guard let next = turn.waiting.first else {
            turns[owner] = nil
            return nil
        }
        turns[owner] = Turn(pool: next, waiting: Array(turn.waiting.dropFirst()))
        return next
    }
}
