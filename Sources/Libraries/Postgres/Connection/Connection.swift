import CLibPQ
import EventLoops
import Glibc
import NIOCore

/// One connection in libpq's pipeline mode, confined to the event loop of its pool.
///
/// The connection sends each pipeline as soon as the pool hands it over, without waiting for the
/// results of earlier pipelines, and notifies the pool when a pipeline has finished. This class does
/// the I/O. The decisions are made by three types without I/O: `PipelineState` (which reply belongs to
/// which command), `PreparedStatements` (what is prepared), and `PipelineWatchdog` (when to cancel).
///
/// See https://www.postgresql.org/docs/15/libpq-pipeline-mode.html
final class Connection: LinkOwner {
    private let configuration: PostgresConfiguration
    private let pool: ConnectionPool
    private let index: Int
    private let executor: EventLoopTaskExecutor
    private let readiness: any Readiness
    private lazy var link = Link(configuration, on: executor, readiness, owner: self)

    private var inFlight = PipelineState<Submission>()
    private var prepared: PreparedStatements
    private var scratch = ParameterScratch()
    /// The prepared names of the statements being sent; a property only to reuse its storage.
    private var names: [String] = []
    /// The errors of statements that the server refused to prepare, at most `preparationErrorsMax`.
    private var preparationErrors: [PreparedStatements.Key: ServerError] = [:]
    private static let preparationErrorsMax = 100

    /// The approximate size of the part of the next result that libpq has read, in bytes.
    private var incompleteBytes = 0

    /// When the server could begin with the first unit in flight: when it was sent, or when the one before it finished.
    private var firstStart = NIODeadline.now()

    /// The approximate size of the largest parameters of a pipeline, or of the largest row, in bytes.
    private var largestBytes = 0
    /// A connection with a larger message is replaced when it is idle, because libpq never shrinks its buffers.
    private static let keptBytesMax = 2 << 20

    /// Whether the server has ended the wait of a commit for a synchronous standby. It concerns the first pipeline in flight.
    private var hasGivenUpStandby = false

    /// The number of large pipelines in flight.
    private var largeCount = 0

    private var watchdog = PipelineWatchdog()
    /// The number of cancel requests being sent, and the time when the last one completed.
    private var cancelCount = 0
    private var lastCancel: NIODeadline?
    /// How long after its completion a cancel request may still cancel a later statement.
    private static let lateCancelWindow: TimeAmount = .seconds(1)

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

    /// Why the last attempt to connect failed; nil while connected.
    var failure: String? { link.failure }
    /// Whether the pipeline that the server is executing delays those sent after it.
    var isSlow: Bool { watchdog.isSlow }
    /// Whether a write is running whose caller has stopped waiting. It is not cancelled, so it may take any time.
    var isBlocked: Bool {
        guard let first = inFlight.first else { return false }
        return first.isAbandoned && !first.pipeline.isReadOnly
    }
    var isIdle: Bool { inFlight.count == 0 }
    /// The pipelines sent and not yet finished, oldest first.
    var submissions: [Submission] { inFlight.owners }

    func start() { link.start() }

    func close() {
        link.close()
        // All of them were sent, so the server may have committed them.
        for submission in inFlight.removeAll() {
            submission.resume(.failure(.connectionLost("it was closed by this program")))
        }
    }

    func linkOpened(_ connection: OpaquePointer) {
        guard PQenterPipelineMode(connection) == 1 else {
            return link.lose(errorMessage(connection))
        }
        receiveNotices(of: connection)
        prepared = PreparedStatements(capacity: configuration.preparedStatementsMax)
        preparationErrors = [:]
        hasGivenUpStandby = false
        incompleteBytes = 0
        largestBytes = 0
        largeCount = 0
        watchdog = PipelineWatchdog()
        pool.memberOpened(index)
    }

    func linkLost(_ reason: String) {
        pool.memberLost(index, inFlight.removeAll(), reason)
    }
}

// MARK: Sending

extension Connection {
    /// Sends the whole pipeline.
    ///
    /// The commands go out in this order, each group closed by a Sync message and therefore a unit of
    /// its own in `inFlight`:
    /// 1. one Parse for each statement that this connection has not prepared yet;
    /// 2. one Bind and Execute for each statement, which is the pipeline itself;
    /// 3. one `DEALLOCATE` for each prepared statement above the capacity.
    ///
    /// If libpq refuses a command, the connection is closed, and `linkLost` returns the pipeline to the
    /// pool together with the others in flight.
    func send(_ submission: Submission) {
        guard let connection = link.connection else { return }
        let steps = submission.pipeline.steps
        submission.pipeline.statistics?.count(statements: steps.count)
        let byteCount = submission.pipeline.parameterBytes
        largestBytes = max(largestBytes, byteCount)
        if submission.pipeline.isLarge {
            largeCount += 1
            link.setPatient(true)
        }
        if inFlight.count == 0 { firstStart = .now() }
        var isSent = true
        names.removeAll(keepingCapacity: true)
        for step in steps {
            let key = PreparedStatements.Key(step)
            let (name, isNew) = prepared.use(key)
            names.append(name)
            if isNew {
                // Preparing is a unit of its own: an error in the pipeline must not roll back the
                // preparation, because later pipelines rely on it.
                preparationErrors[key] = nil
                inFlight.append(.prepare(key), commandCount: 1)
                isSent =
                    isSent
                    && scratch.prepare(name, step.statement.text, step.parameters, on: connection)
                    && PQpipelineSync(connection) == 1
            }
        }
        inFlight.append(.pipeline(submission), commandCount: steps.count)
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
        inFlight.append(.housekeeping, commandCount: 1)
        return PQsendQueryParams(connection, "DEALLOCATE \(name)", 0, nil, nil, nil, nil, 1) == 1
            && PQpipelineSync(connection) == 1
    }
}

// MARK: Receiving

extension Connection {
    func linkReceived(_ connection: OpaquePointer, byteCount: Int) {
        incompleteBytes += byteCount
        var resultCount = 0
        // PQgetResult returns nil after the results of each command, and sometimes once more before those
        // of the next command. Three in a row therefore mean that nothing is left to read.
        var emptyCount = 0
        while inFlight.count > 0, emptyCount < 3, link.connection == connection,
            PQisBusy(connection) == 0
        {
            if let result = PQgetResult(connection) {
                emptyCount = 0
                resultCount += 1
                incompleteBytes = 0
                receive(result, on: connection)
            } else {
                emptyCount += 1
            }
        }
        // Most results arrive with the first input. Only the others are large enough to be measured.
        link.measuresInput = inFlight.count > 0 && resultCount == 0
        // The incomplete result belongs to the first pipeline: libpq keeps the results in order.
        if incompleteBytes > 0, let submission = inFlight.first,
            submission.refuseRows(incompleteBytes: incompleteBytes)
        {
            cancel(submission)
        }
    }

    private func receive(_ result: OpaquePointer, on connection: OpaquePointer) {
        switch PQresultStatus(result) {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
            if case .deliver(let submission, let index) = advance(.result) {
                let rows = Rows(result)
                // libpq reads a row as a whole, but not a result.
                if rows.byteCount > Connection.keptBytesMax {
                    largestBytes = max(largestBytes, rows.largestRowByteCount)
                }
                submission.receive(rows)
                if submission.refuseRows(), index + 1 < submission.pipeline.count {
                    cancel(submission)
                }
                return  // `Rows` now owns the result and frees it
            }
        case PGRES_PIPELINE_SYNC:
            if case .finish(let submission) = advance(.sync) { finish(submission) }
        case PGRES_PIPELINE_ABORTED:
            _ = advance(.skipped)
        case PGRES_FATAL_ERROR where !isFatal(result):
            fail(result, on: connection)
        case PGRES_FATAL_ERROR:
            link.lose(ServerError(result, statementIndex: nil).message)
        default:
            // COPY changes the protocol of the connection and is not supported in pipeline mode.
            link.lose("a pipeline contained COPY, which pipeline mode does not support")
        }
        PQclear(result)
    }

    /// Matches a reply to the command it belongs to; closes the connection if there is none.
    private func advance(
        _ reply: PipelineState<Submission>.Reply
    ) -> PipelineState<Submission>.Action {
        let action = inFlight.receive(reply)
        if case .violation = action { link.lose("the server sent a reply to no command") }
        return action
    }

    private func fail(_ result: OpaquePointer, on connection: OpaquePointer) {
        switch advance(.failure) {
        case .deliver(let submission, let index):
            let steps = submission.pipeline.steps
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
                submission.isRetryable = true
                if let name = prepared.forget(key), !deallocate(name, on: connection) {
                    link.lose(errorMessage(connection))
                }
            }
            submission.fail(error)
        case .preparationFailed(let key):
            let error = ServerError(result, statementIndex: nil)
            // The session already has the statement. Its name contains the hash of its text.
            if error.sqlState == .duplicatePreparedStatement { break }
            prepared.forget(key)
            if preparationErrors.count >= Connection.preparationErrorsMax {
                preparationErrors = [:]
            }
            preparationErrors[key] = error
        case .ignore, .finish, .violation: break
        }
    }

    /// Watches for the warning that a commit is stored only by the primary: a cancel request has arrived while the commit waited
    /// for a synchronous standby. The request may come from an administrator, or from this program and be meant for an earlier
    /// pipeline. Other notices are discarded.
    ///
    /// The warning arrives after the results of the commit's pipeline and before its sync.
    private func receiveNotices(of connection: OpaquePointer) {
        // The pointer is used only for notices of the server. They arrive while this object, which closes the connection, reads its
        // input. libpq can also report problems of its own later, but these do not name a function of the server.
        let connectionObject = Unmanaged.passUnretained(self).toOpaque()
        PQsetNoticeReceiver(
            connection,
            { connectionObject, notice in
                guard let connectionObject,
                    let function = PQresultErrorField(notice, CInt(UInt8(ascii: "R"))),
                    strcmp(function, "SyncRepWaitForLSN") == 0
                else { return }
                Unmanaged<Connection>.fromOpaque(connectionObject).takeUnretainedValue()
                    .hasGivenUpStandby = true
            }, connectionObject)
    }

    private func finish(_ submission: Submission) {
        if hasGivenUpStandby {
            hasGivenUpStandby = false
            // Committed, but lost if the standby becomes the primary.
            submission.resume(
                .failure(.connectionLost("the commit did not wait for the synchronous standby")))
        }
        if largeCount > 0, submission.pipeline.isLarge {
            largeCount -= 1
            if largeCount == 0 { link.setPatient(false) }
        }
        if submission.failure?.sqlState == .queryCanceled, !submission.isCancelRequested,
            mayReceiveLateCancel
        {
            // The cancel request was meant for the previous pipeline, which finished before it arrived.
            submission.isRetryable = true
        }
        let start = firstStart
        firstStart = .now()
        pool.memberFinished(index, submission, after: (firstStart - start).nanoseconds)
        if largestBytes > Connection.keptBytesMax, isIdle {
            link.replace()
            pool.memberReplaced(index)
        }
    }
}

// MARK: Cancelling

extension Connection {
    /// Advances the watchdog by one tick of the pool's timer, and cancels or disconnects if it says so.
    func tick() {
        let first = inFlight.first
        let action = watchdog.tick(
            pipeline: first.map { _ in inFlight.finishedCount },
            isAbandoned: first?.isAbandoned ?? false,
            isReadOnly: first?.pipeline.isReadOnly ?? true)
        switch action {
        case .nothing: break
        case .cancel: first.map(cancel)
        case .giveUp:
            let isWrite = first?.pipeline.isReadOnly == false
            if isWrite, !pool.countAbandonedWrite() { break }
            link.lose("the server did not end a statement whose caller has stopped waiting")
        }
    }

    /// Whether a cancel request for an earlier pipeline may hit the current one.
    private var mayReceiveLateCancel: Bool {
        cancelCount > 0
            || lastCancel.map { NIODeadline.now() - $0 < Connection.lateCancelWindow } ?? false
    }

    /// Sends a cancel request for the statement that the server is executing for this submission.
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

extension Pipeline {
    /// Whether its parameters may fill the buffers of the sockets while the server does not read.
    fileprivate var isLarge: Bool { parameterBytes > 32 << 10 }

    fileprivate var parameterBytes: Int { steps.reduce(0) { $0 + $1.parameters.bytes.count } }
}

extension PreparedStatements.Key {
    init(_ step: Pipeline.Step) {
        self.init(statement: step.statement.id, signature: step.parameters.signature)
    }
}

/// A libpq cancel handle, which any thread may use.
private final class CancelRequest: @unchecked Sendable {
    private let request: OpaquePointer  // libpq does not modify it after PQgetCancel

    init?(_ connection: OpaquePointer) {
        guard let request = PQgetCancel(connection) else { return nil }
        self.request = request
    }

    deinit {
        PQfreeCancel(request)
    }

    /// Blocks until the server has received the request. The server does not report whether anything
    /// was cancelled.
    func send() {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { error in
            _ = PQcancel(request, error.baseAddress, Int32(error.count))
        }
    }
}
