import Basics
import GraphQL
import GraphQLPostgres
import NIOCore
import Postgres

/// A request: its caller, and the statements that the loads of the current level have added.
///
/// All access to tables with user data goes through this type or `JobContext`. Each pipeline starts with a statement that
/// sets the caller for row-level security and, at least once per request, checks the session.
///
/// Belongs to one event loop.
package final class RequestContext: RowContext {
    package let environment: RequestEnvironment
    /// The services of the product, which only its own code uses.
    package let product: any AnyObject & Sendable
    package let requestID: String
    /// The key of the client's address for rate limits; nil if it is unknown.
    package let address: RateKey?
    /// The caller; nil for an anonymous request. Signing in sets it.
    package var viewer: Viewer? {
        didSet {
            charges.become(viewer)
            if let viewer { environment.replica?.changed(viewer.userID) }
        }
    }
    /// The header `Accept-Language`; nil if the request has none, or is not a request for GraphQL.
    package var acceptLanguage: String?
    /// The files of a multipart request.
    package var uploads: [StoredBytes] = []
    /// Charges the work of this request to the rate limits.
    package let charges: RequestCharges
    /// Counts the statements and round trips of this request. Their time is charged.
    package let statistics: Statistics
    /// Records the execution, if a developer requested an explanation.
    let explanation: Explanation?
    /// Whether the server cancelled the request because it took too long.
    let hasTimedOut: @Sendable () -> Bool
    /// The maximum memory of the rows that the request's levels load, in bytes; nil for no limit.
    private let rowBytesMax: Int?
    /// The unused part of `rowBytesMax`.
    private var rowBytesLeft: Int?
    package private(set) var hasLoadedTooMuch = false
    /// The memory of the rows that the request's levels have loaded, in bytes; 0 if there is no limit.
    var loadedByteCount: Int { (rowBytesMax ?? 0) - (rowBytesLeft ?? 0) }
    /// Whether a pipeline may have changed something.
    package private(set) var hasWritten = false

    package let database: ConnectionPool
    /// The pool for reads: the replica until the request writes, or the primary. nil before the first read.
    private var readPool: ConnectionPool?
    /// The caller whose session an earlier pipeline of this request has checked.
    private var checkedViewer: Viewer?
    private var level: Level
    /// The statements of the current level.
    private var pipeline: Pipeline

    /// - Parameters:
    ///   - product: The services of the product.
    ///   - mayReadReplica: Whether reads may use the replica, as for queries.
    ///   - rowBytesMax: The maximum memory of the rows that its levels load; nil for no limit.
    ///   - charges: The charges of the request so far; nil for a request that was not charged.
    package init(
        viewer: Viewer?, database: ConnectionPool, environment: RequestEnvironment,
        product: any AnyObject & Sendable, requestID: String,
        address: RateKey? = nil, charges: RequestCharges? = nil, isExplained: Bool = false,
        mayReadReplica: Bool = false,
        rowBytesMax: Int? = nil, hasTimedOut: @escaping @Sendable () -> Bool = { false }
    ) {
        self.hasTimedOut = hasTimedOut
        self.rowBytesMax = rowBytesMax
        rowBytesLeft = rowBytesMax
        self.viewer = viewer
        self.environment = environment
        self.product = product
        self.database = database
        self.requestID = requestID
        self.address = address
        let charges = charges ?? RequestCharges(environment, viewer, address)
        self.charges = charges
        statistics = Statistics { charges.spend(databaseNanoseconds: $0, isWrite: $1) }
        explanation = isExplained ? Explanation() : nil
        readPool = mayReadReplica ? nil : database
        level = Level()
        pipeline = Pipeline(isReadOnly: true)
    }

    /// Returns a context for the next event of a subscription. It checks the session again.
    package func makeEventContext() -> RequestContext {
        let context = RequestContext(
            viewer: viewer, database: database, environment: environment, product: product,
            requestID: requestID,
            charges: charges, rowBytesMax: rowBytesMax, hasTimedOut: hasTimedOut)
        context.acceptLanguage = acceptLanguage
        return context
    }

    /// Returns the caller.
    ///
    /// - Throws: `.unauthenticated` for an anonymous request.
    package func caller() throws(BookplateError) -> Viewer {
        guard let viewer else { throw .unauthenticated }
        return viewer
    }

    /// The owner of the request's pipelines: the caller, or the address of a client that is not signed in.
    var owner: PipelineOwner? {
        viewer.map { .user($0.userID) } ?? address.map { .address($0.id) }
    }

    // MARK: - Queries

    /// The results of a level's statements, set by the flush.
    fileprivate final class Level {
        var result: Result<[Rows], BookplateError>?
        /// The caller that the statements are for.
        var viewer: Viewer?
        /// The objects that its loads share, by their types.
        var shared: [ObjectIdentifier: AnyObject] = [:]
    }

    /// The result of one statement, available after the flush.
    package struct PendingRows: PendingResult {
        fileprivate let level: Level
        fileprivate let index: Int

        package func rows() throws(BookplateError) -> Rows {
            guard let rows = try level.result?.get(), index < rows.count else {
                throw .internalError
            }
            return rows[index]
        }
    }

    package var needsFlush: Bool { pipeline.count > 0 }

    /// Adds a read-only statement to the current level's round trip.
    package func query(_ statement: Statement, _ parameters: Parameters) -> PendingRows {
        if pipeline.count == 0, let viewer {
            pipeline = makePipeline(for: viewer, isReadOnly: true)
            level.viewer = viewer
        }
        pipeline.append(statement, parameters)
        return PendingRows(level: level, index: pipeline.count - 1)
    }

    /// Returns the object of a type that the loads of the current level share, for example to look up their ISBNs together.
    ///
    /// - Parameter make: Creates the object for the first load of the level.
    package func shared<Object: AnyObject>(_ make: () -> Object) -> Object {
        if let object = level.shared[ObjectIdentifier(Object.self)] as? Object { return object }
        let object = make()
        level.shared[ObjectIdentifier(Object.self)] = object
        return object
    }

    package func flush() async {
        var pipeline = pipeline
        let level = level
        self.pipeline = Pipeline(isReadOnly: true)
        self.level = Level()
        pipeline.rowBytesMax = rowBytesLeft
        do throws(BookplateError) {
            let rows = try await run(pipeline)
            if let left = rowBytesLeft {
                rowBytesLeft = left - rows.reduce(0) { $0 + $1.byteCount }
            }
            if let viewer = level.viewer { checkedViewer = viewer }
            level.result = .success(rows)
        } catch {
            level.result = .failure(error)
        }
    }

    /// Returns a load that may take long. It runs at the same time as those of other fields, and its pipelines are round trips
    /// of their own.
    ///
    /// - Parameter work: Returns the children of the only parent. It runs on the loop of the request.
    package func concurrentLoad(
        _ work: @escaping () async throws(BookplateError) -> Children
    ) -> Load {
        let executor = database.executor
        let bound = NIOLoopBound((request: self, work: work), eventLoop: executor.eventLoop)
        let call = ConcurrentCall(on: executor) {
            let (request, work) = bound.value
            let children: Children
            do throws(BookplateError) {
                children = try await work()
            } catch {
                children = .failed(1, request.fieldError(error))
            }
            return NIOLoopBound(children, eventLoop: executor.eventLoop)
        } finish: {
            $0.value
        }
        return .concurrent(call)
    }

    /// Runs read-only statements in one round trip of their own.
    ///
    /// - Parameter fill: Appends the statements and returns the keys of the results to read, in any form, or nothing.
    @discardableResult
    package func read<Keys>(
        _ fill: (inout Pipeline, Viewer) throws(BookplateError) -> Keys
    ) async throws(BookplateError) -> (results: PipelineResults, keys: Keys) {
        try await results(isReadOnly: true, fill)
    }

    /// Runs read-only statements in one round trip of their own.
    ///
    /// - Parameter fill: Appends the statements and returns the key of the only result to read.
    /// - Returns: The decoded rows of that result.
    package func read<Row>(
        _ fill: (inout Pipeline, Viewer) throws(BookplateError) -> ResultKey<Row>
    ) async throws(BookplateError) -> [Row] {
        let (results, key) = try await results(isReadOnly: true, fill)
        return results[key]
    }

    // MARK: - Mutations

    /// Runs statements in one transaction and one round trip, as the caller.
    ///
    /// - Parameter fill: Appends the statements and returns the keys of the results to read, in any form, or nothing.
    @discardableResult
    package func write<Keys>(
        _ fill: (inout Pipeline, Viewer) throws(BookplateError) -> Keys
    ) async throws(BookplateError) -> (results: PipelineResults, keys: Keys) {
        try await results(isReadOnly: false, fill)
    }

    /// Runs statements in one transaction and one round trip, as the caller.
    ///
    /// - Parameter fill: Appends the statements and returns the key of the only result to read.
    /// - Returns: The decoded rows of that result.
    package func write<Row>(
        _ fill: (inout Pipeline, Viewer) throws(BookplateError) -> ResultKey<Row>
    ) async throws(BookplateError) -> [Row] {
        let (results, key) = try await results(isReadOnly: false, fill)
        return results[key]
    }

    // MARK: - Without a caller

    /// Runs statements that need no caller, such as those of a sign-in. The primary runs them: a replica may not know yet that a link of
    /// another reader has ended.
    ///
    /// - Parameters:
    ///   - isReadOnly: Whether the statements change nothing, and confirm nothing that a request has changed.
    ///   - fill: Appends the statements and returns the keys of the results to read, in any form, or nothing.
    @discardableResult
    package func anonymous<Keys>(
        isReadOnly: Bool = false, _ fill: (inout Pipeline) -> Keys
    ) async throws(BookplateError) -> (results: PipelineResults, keys: Keys) {
        readPool = database
        var pipeline = Pipeline(isReadOnly: isReadOnly, owner: owner, statistics: statistics)
        let keys = fill(&pipeline)
        if !isReadOnly { pipeline.append(Self.waitForStandby) }
        let rows = try await run(pipeline)
        return (PipelineResults(rows), keys)
    }

    /// Runs statements that need no caller, such as those of a sign-in.
    ///
    /// - Parameters:
    ///   - isReadOnly: Whether the statements change nothing, and confirm nothing that a request has changed.
    ///   - fill: Appends the statements and returns the key of the only result to read.
    /// - Returns: The decoded rows of that result.
    package func anonymous<Row>(
        isReadOnly: Bool = false, _ fill: (inout Pipeline) -> ResultKey<Row>
    ) async throws(BookplateError) -> [Row] {
        readPool = database
        var pipeline = Pipeline(isReadOnly: isReadOnly, owner: owner, statistics: statistics)
        let key = fill(&pipeline)
        if !isReadOnly { pipeline.append(Self.waitForStandby) }
        return PipelineResults(try await run(pipeline))[key]
    }

    /// Makes the commit wait for the synchronous standby, if there is one, even if the other statements change nothing. They may
    /// change nothing because an earlier attempt at the same request did everything, in a transaction that the standby does not
    /// have yet. In pipelines with a caller, `begin_request` does this.
    private static let waitForStandby = Statement(
        """
        SELECT pg_logical_emit_message(true, 'bookplate', '')
        WHERE current_setting('synchronous_standby_names') <> ''
        """)

    // MARK: - Pipelines

    private func results<Keys>(
        isReadOnly: Bool, _ fill: (inout Pipeline, Viewer) throws(BookplateError) -> Keys
    ) async throws(BookplateError) -> (results: PipelineResults, keys: Keys) {
        let viewer = try caller()
        var pipeline = makePipeline(for: viewer, isReadOnly: isReadOnly)
        let keys = try fill(&pipeline, viewer)
        let results = PipelineResults(try await run(pipeline))
        checkedViewer = viewer
        return (results, keys)
    }

    private static let begin = Statement("SELECT begin_request($1, $2, $3, $4)")
    private static let beginWithToken = Statement("SELECT begin_token_request($1, $2, $3, $4)")
    /// Does the same as `begin_request` for a read-only pipeline, without calling a PL/pgSQL function.
    ///
    /// PostgreSQL evaluates select lists from left to right, so `app.user_id` is set before the session is looked up. In
    /// another order, row-level security would hide the session, and every request would be refused.
    private static let beginReadOnly = Statement(
        """
        SELECT
            set_config('app.user_id', $1::text, true),
            set_config('app.tenant_id', $2::text, true),
            set_config('transaction_read_only', 'on', true),
            CASE WHEN NOT EXISTS (
                SELECT FROM sessions
                WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
            ) THEN refuse_session() END
        """)
    private static let continueReadOnly = Statement(
        """
        SELECT
            set_config('app.user_id', $1::text, true),
            set_config('app.tenant_id', $2::text, true),
            set_config('transaction_read_only', 'on', true)
        """)

    /// Returns a pipeline that starts by setting the caller. It also checks the session if it writes, or if no pipeline of the
    /// request has done that yet. Several pipelines that run at the same time do it each, so none returns rows of an ended
    /// session.
    private func makePipeline(for viewer: Viewer, isReadOnly: Bool) -> Pipeline {
        var pipeline = Pipeline(
            isReadOnly: isReadOnly, owner: .user(viewer.userID), statistics: statistics)
        var parameters = Parameters.of(viewer.userID, viewer.tenantID)
        if isReadOnly, checkedViewer == viewer {
            pipeline.append(Self.continueReadOnly, parameters)
            return pipeline
        }
        parameters.append(uuid: viewer.sessionID)
        if viewer.usesPersonalToken {
            parameters.append(bool: isReadOnly)
            pipeline.append(Self.beginWithToken, parameters)
        } else if isReadOnly {
            pipeline.append(Self.beginReadOnly, parameters)
        } else {
            parameters.append(bool: false)
            pipeline.append(Self.begin, parameters)
        }
        if !isReadOnly { pipeline.notify(Hub.changeChannel, viewer.userID.description) }
        return pipeline
    }

    private func run(_ pipeline: Pipeline) async throws(BookplateError) -> [Rows] {
        let roundTrip = explanation?.begin(pipeline)
        defer { if let roundTrip { explanation?.end(roundTrip) } }
        if !hasWritten { try charges.checkDebt() }
        do throws(PostgresError) {
            guard pipeline.isReadOnly else { return try await runOnPrimary(pipeline) }
            if let rows = try await replicaRows(pipeline) { return rows }
            return try await database.run(pipeline)
        } catch .rowsTooLarge {
            hasLoadedTooMuch = true
            // The client does not receive this error: the whole response is replaced by the error of one that is too large.
            throw .internalError
        } catch {
            throw environment.bookplateError(
                error, requestID, isReadOnly: pipeline.isReadOnly, hasWritten: hasWritten)
        }
    }

    private func runOnPrimary(_ pipeline: Pipeline) async throws(PostgresError) -> [Rows] {
        readPool = database
        // Also after an error: the transaction may have been committed although the result was lost.
        defer { if let viewer { environment.replica?.changed(viewer.userID) } }
        do throws(PostgresError) {
            let rows = try await database.run(pipeline)
            hasWritten = true
            return rows
        } catch {
            if !error.hadNoEffect { hasWritten = true }
            throw error
        }
    }

    /// Returns the rows from the replica; nil if it is not to be read, or has an error. The primary is read then.
    ///
    /// - Throws: `.rowsTooLarge` only, since the primary has the same rows.
    private func replicaRows(_ pipeline: Pipeline) async throws(PostgresError) -> [Rows]? {
        if readPool == nil {
            readPool =
                viewer.flatMap { environment.replica?.pool(for: $0, beside: database) } ?? database
        }
        guard let replica = readPool, replica !== database else { return nil }
        var pipeline = pipeline
        pipeline.timeout = Replica.timeout
        do throws(PostgresError) {
            return try await replica.run(pipeline)
        } catch {
            if case .rowsTooLarge = error { throw error }
            readPool = database
            return nil
        }
    }

    // MARK: - Errors

    /// Converts an error to a field error. If the server cancelled the request because it took too long, the client is still
    /// connected and gets another error.
    package func fieldError(_ error: BookplateError) -> FieldError {
        let timedOut: BookplateError =
            hasWritten
            ? .serviceUnavailable(retryAfterSeconds: 1, outcome: .unknown) : .internalError
        let reported = error == .cancelled && hasTimedOut() ? timedOut : error
        return reported.fieldError(requestID: requestID, language: acceptLanguage)
    }

    package var cancellationError: FieldError { fieldError(.cancelled) }

    package func error(for defect: LoaderDefect) -> FieldError {
        environment.logger.error(
            "a loader returned invalid values for a field",
            metadata: ["request_id": "\(requestID)", "reason": "\(defect)"])
        return fieldError(.internalError)
    }

    // MARK: - RowContext

    package func callerID() throws -> UUID { try caller().userID }

    package func pending(_ statement: Statement, _ parameters: Parameters) -> any PendingResult {
        query(statement, parameters)
    }

    package func fieldError(_ error: any Error) -> FieldError {
        switch error {
        case let error as BookplateError: fieldError(error)
        case let error as RowError: fieldError(BookplateError(error))
        default: fieldError(.internalError)
        }
    }
}
