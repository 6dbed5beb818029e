import EventLoops
import CLibPQ
import NIOCore

/// One connection in libpq's pipeline mode, for the loop of its pool only.
///
/// It sends each segment the moment it gets it, and tells its pool when one is over. What it decides
/// is in `PipelineState`, `PreparedStatements` and `PipelineWatchdog`; here it is done.
final class Connection: LinkOwner {
    private let configuration: PostgresConfiguration
    private let pool: ConnectionPool
    private let index: Int
    private let executor: EventLoopTaskExecutor
    private let readiness: any Readiness
    private lazy var link = Link(configuration, on: executor, readiness, owner: self)

    private var pipeline = PipelineState<Submission>()
    private var prepared: PreparedStatements
    private var scratch = ParameterScratch()
    /// The names of the statements that are being sent, kept for its storage.
    private var names: [String] = []
    /// What the server said of statements that it would not prepare.
    private var preparationErrors: [PreparedStatements.Key: ServerError] = [:]
    private static let preparationErrorsMax = 100

    private var watchdog = PipelineWatchdog()
    /// Cancel requests under way, and when the last one was over.
    private var cancelCount = 0
    private var lastCancel: NIODeadline?
    /// How long a cancel request that is over may still hit a statement.
    private static let cancelEcho: TimeAmount = .seconds(1)

    init(
        _ configuration: PostgresConfiguration, index: Int, pool: ConnectionPool,
        on executor: EventLoopTaskExecutor, _ readiness: any Readiness
    ) {
        self.configuration = configuration
        self.index = index
        self.pool = pool
        self.executor = executor
        self.readiness = readiness
        prepared = PreparedStatements(capacity: configuration.preparedStatementsMax)
    }

    /// Why there is no connection.
    var failure: String? { link.failure }
    /// Whether the segment at work holds up the rest.
    var isSlow: Bool { watchdog.isSlow }
    var isIdle: Bool { pipeline.count == 0 }
    /// What is under way, first sent first.
    var submissions: [Submission] { pipeline.owners }

    func start() { link.start() }

    func close() {
        link.close()
        for submission in pipeline.removeAll() { submission.resume(.failure(.closed)) }
    }

    func linkOpened(_ connection: OpaquePointer) {
        guard PQenterPipelineMode(connection) == 1 else {
            return link.lose(errorMessage(connection))
        }
        prepared = PreparedStatements(capacity: configuration.preparedStatementsMax)
        preparationErrors = [:]
        watchdog = PipelineWatchdog()
        pool.memberOpened(index)
    }

    func linkLost(_ reason: String) {
        pool.memberLost(index, pipeline.removeAll(), reason)
    }
}

// MARK: Sending

extension Connection {
    /// Sends all of the segment, or loses the connection and hands the segment back with the others.
    func send(_ submission: Submission) {
        guard let connection = link.connection else { return }
        let steps = submission.segment.steps
        submission.segment.statistics?.count(statements: steps.count)
        var isSent = true
        names.removeAll(keepingCapacity: true)
        for step in steps {
            let key = PreparedStatements.Key(step)
            let (name, isNew) = prepared.use(key)
            names.append(name)
            if isNew {
                // A unit of its own: an error in the segment must not undo what later segments build on.
                preparationErrors[key] = nil
                pipeline.append(.prepare(key), commandCount: 1)
                isSent =
                    isSent
                    && scratch.prepare(name, step.statement.text, step.parameters, on: connection)
                    && PQpipelineSync(connection) == 1
            }
        }
        pipeline.append(.segment(submission), commandCount: steps.count)
        for (name, step) in zip(names, steps) where isSent {
            isSent = scratch.execute(name, step.parameters, on: connection)
        }
        isSent = isSent && PQpipelineSync(connection) == 1
        while isSent, let name = prepared.evict() {
            isSent = deallocate(name, on: connection)
        }
        if isSent { link.flush() } else { link.lose(errorMessage(connection)) }
    }

    private func deallocate(_ name: String, on connection: OpaquePointer) -> Bool {
        pipeline.append(.housekeeping, commandCount: 1)
        return PQsendQueryParams(connection, "DEALLOCATE \(name)", 0, nil, nil, nil, nil, 1) == 1
            && PQpipelineSync(connection) == 1
    }
}

// MARK: Receiving

extension Connection {
    func linkReceived(_ connection: OpaquePointer) {
        // libpq says "no result" after each command and sometimes before one, never twice in between.
        var emptyCount = 0
        while pipeline.count > 0, emptyCount < 3, link.connection == connection,
            PQisBusy(connection) == 0
        {
            if let result = PQgetResult(connection) {
                emptyCount = 0
                receive(result, on: connection)
            } else {
                emptyCount += 1
            }
        }
    }

    private func receive(_ result: OpaquePointer, on connection: OpaquePointer) {
        switch PQresultStatus(result) {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
            if case .deliver(let submission, _) = take(.result) {
                submission.receive(Rows(result))
                return  // the rows own it now
            }
        case PGRES_PIPELINE_SYNC:
            if case .finish(let submission) = take(.sync) { finish(submission) }
        case PGRES_PIPELINE_ABORTED:
            _ = take(.skipped)
        case PGRES_FATAL_ERROR where !isFatal(result):
            fail(result, on: connection)
        case PGRES_FATAL_ERROR:
            link.lose(ServerError(result, statementIndex: nil).message)
        default:
            // COPY, which would need its own protocol and has no place in a segment.
            link.lose("a statement of an unsupported kind")
        }
        PQclear(result)
    }

    private func take(_ reply: PipelineState<Submission>.Reply) -> PipelineState<Submission>.Action
    {
        let action = pipeline.receive(reply)
        if case .violation = action { link.lose("a reply that nothing was sent for") }
        return action
    }

    private func fail(_ result: OpaquePointer, on connection: OpaquePointer) {
        switch take(.failure) {
        case .deliver(let submission, let index):
            let steps = submission.segment.steps
            guard index < steps.count else {
                submission.fail(ServerError(result, statementIndex: nil))
                return
            }
            let key = PreparedStatements.Key(steps[index])
            var error = ServerError(result, statementIndex: index)
            if error.sqlState == .invalidStatementName, let reason = preparationErrors[key] {
                error = reason
                error.statementIndex = index
            } else if isStale(result, error) {
                submission.isWorthAnotherTry = true
                if let name = prepared.forget(key), !deallocate(name, on: connection) {
                    link.lose(errorMessage(connection))
                }
            }
            submission.fail(error)
        case .preparationFailed(let key):
            prepared.forget(key)
            if preparationErrors.count >= Connection.preparationErrorsMax {
                preparationErrors = [:]
            }
            preparationErrors[key] = ServerError(result, statementIndex: nil)
        case .ignore, .finish, .violation: break
        }
    }

    private func finish(_ submission: Submission) {
        if submission.failure?.sqlState == .queryCanceled, !submission.isCancelRequested,
            isCancelNear
        {
            // Meant for the segment before this one, which ended just in time.
            submission.isWorthAnotherTry = true
        }
        pool.memberFinished(index, submission)
    }
}

// MARK: Cancelling

extension Connection {
    /// One tick of the pool's clock.
    func tick() {
        let first = pipeline.first
        let action = watchdog.tick(
            segment: first.map { _ in pipeline.finishedCount },
            isAbandoned: first?.isAbandoned ?? false)
        switch action {
        case .nothing: break
        case .cancel: first.map(cancel)
        case .giveUp: link.lose("a cancelled statement does not end")
        }
    }

    private var isCancelNear: Bool {
        cancelCount > 0
            || lastCancel.map { NIODeadline.now() - $0 < Connection.cancelEcho } ?? false
    }

    /// Asks the server to cancel what this connection is doing, which the submission is.
    private func cancel(_ submission: Submission) {
        guard let connection = link.connection, let request = CancelRequest(connection) else {
            return
        }
        submission.isCancelRequested = true
        cancelCount += 1
        configuration.onEvent(.statementCancelled(processID: PQbackendPID(connection)))
        let loop = executor.eventLoop
        let bound = NIOLoopBound(self, eventLoop: loop)
        HelperThreads.cancelling.submit { _ in
            request.send()
            loop.execute {
                bound.value.cancelCount -= 1
                bound.value.lastCancel = .now()
            }
        }
    }
}

extension PreparedStatements.Key {
    init(_ step: Segment.Step) {
        self.init(statement: step.statement.id, signature: step.parameters.signature)
    }
}

/// The right to cancel what a session does, from any thread.
private final class CancelRequest: @unchecked Sendable {
    private let request: OpaquePointer  // libpq does not change it after it is made

    init?(_ connection: OpaquePointer) {
        guard let request = PQgetCancel(connection) else { return nil }
        self.request = request
    }

    deinit {
        PQfreeCancel(request)
    }

    /// Blocks until the server has taken notice, which is no promise that something was cancelled.
    func send() {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { error in
            _ = PQcancel(request, error.baseAddress, Int32(error.count))
        }
    }
}
