/// On whose behalf a pipeline runs. The owners share the connections of a pool fairly; see `PoolState`.
package enum PipelineOwner: Hashable, Sendable {
    /// A user. The writes of one user wait for each other's locks, so they follow each other on one connection.
    case user(UUID)
    /// The clients of an address that are not signed in.
    case address(UUID)
    /// A background job without a user.
    case job(UUID)
}

/// The unit that takes turns in the queue of a pool: the reads of an owner, or the writes of a user. A write that waits for a lock
/// therefore does not delay the reads.
struct PipelineLane: Hashable {
    /// nil for the server itself.
    let owner: PipelineOwner?
    /// Whether the lane contains writes of a user.
    let isWriting: Bool

    init(_ pipeline: Pipeline) { self.init(pipeline.owner, isWrite: !pipeline.isReadOnly) }

    init(_ owner: PipelineOwner?, isWrite: Bool) {
        self.owner = owner
        if case .user = owner { isWriting = isWrite } else { isWriting = false }
    }

    /// The lane of the server itself, whose turn always comes next.
    static let server = PipelineLane(nil, isWrite: false)
}
