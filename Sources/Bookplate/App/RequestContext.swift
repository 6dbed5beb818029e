import Basics
import GraphQL
import GraphQLPostgres
import Postgres

/// Who calls, as the access token says. That the session is still alive is asked in the database,
/// with the request's first statement.
package struct Viewer: Sendable, Equatable {
    package let userID: UUID
    package let tenantID: UUID
    package let sessionID: UUID

    package init(userID: UUID, tenantID: UUID, sessionID: UUID) {
        self.userID = userID
        self.tenantID = tenantID
        self.sessionID = sessionID
    }
}

/// One request: its caller, and what the loads of the current level have asked the database for.
///
/// Statements reach user-owned tables only through here, so each segment opens with
/// `begin_request`: the type is the permission. Belongs to one event loop.
package final class RequestContext: RowContext {
    let services: Services
    let requestID: String
    /// The client's; nil where there is none, as for a job.
    let address: RateKey?
    /// Changes once: when the request signs in.
    var viewer: Viewer? {
        didSet { if let viewer { services.replica?.changed(viewer.userID) } }
    }
    /// The files of a multipart request.
    var uploads: [[UInt8]] = []
    /// Statements and round trips of this request.
    package let statistics = Statistics()
    /// What the request does, where a developer asked; nil otherwise.
    let explanation: Explanation?
    /// Whether the server cancelled the request because it took too long.
    private let hasTimedOut: @Sendable () -> Bool
    /// The maximum memory of the rows that the request's levels load, in bytes; nil for no limit.
    private let rowBytesMax: Int?
    /// How much of `rowBytesMax` is left.
    private var rowBytesLeft: Int?
    package private(set) var hasLoadedTooMuch = false

    private let database: ConnectionPool
    /// Where the request's reads go before it has written: the replica, or the database. Nil before the first.
    private var readsFrom: ConnectionPool?
    /// Whose session a segment of this request has found alive, or is asking for.
    private var begunFor: Viewer?
    private var level: Level
    private var segment: Pipeline
    /// The ISBNs that this level looks up.
    private var lookups: ISBNLookups?

    /// - Parameters:
    ///   - mayReadReplica: whether it only looks at what is there, as a query does.
    ///   - rowBytesMax: the maximum memory of the rows that its levels load; nil for no limit.
    package init(
        viewer: Viewer?, database: ConnectionPool, services: Services, requestID: String,
        address: RateKey? = nil, isExplained: Bool = false, mayReadReplica: Bool = false,
        rowBytesMax: Int? = nil, hasTimedOut: @escaping @Sendable () -> Bool = { false }
    ) {
        self.hasTimedOut = hasTimedOut
        self.rowBytesMax = rowBytesMax
        rowBytesLeft = rowBytesMax
        self.viewer = viewer
        self.database = database
        self.services = services
        self.requestID = requestID
        self.address = address
        explanation = isExplained ? Explanation() : nil
        readsFrom = mayReadReplica ? nil : database
        level = Level()
        segment = Pipeline(isReadOnly: true)
    }

    /// A request of the same caller that begins anew: the database is asked again whether the session lives.
    func another() -> RequestContext {
        RequestContext(
            viewer: viewer, database: database, services: services, requestID: requestID,
            rowBytesMax: rowBytesMax, hasTimedOut: hasTimedOut)
    }

    /// The caller.
    ///
    /// - Throws: `.unauthenticated` where there is none.
    func caller() throws(BookplateError) -> Viewer {
        guard let viewer else { throw .unauthenticated }
        return viewer
    }

    /// Charges the caller for work that the size of the answer does not tell.
    ///
    /// - Throws: `.rateLimited`, before anything is done for it.
    func charge(_ units: Int) throws(BookplateError) {
        let viewer = try caller()
        let state = services.rates.take(
            units, viewer: viewer, address: address,
            tenantMax: services.tenants.requestsPerMinuteMax(of: viewer.tenantID))
        guard let state, !state.isAllowed else { return }
        throw .rateLimited(retryAfterSeconds: state.waitSeconds)
    }

    /// Charges as many of the units as the caller has left, and gives back what of them `work` did not use.
    ///
    /// - Parameter work: gets how many there are, and says how many it used, and what it came to.
    func charge<Value>(
        upTo units: Int,
        _ work: (Int) async throws(BookplateError) -> (used: Int, value: Value)
    ) async throws(BookplateError) -> Value {
        let viewer = try caller()
        let tenantMax = services.tenants.requestsPerMinuteMax(of: viewer.tenantID)
        let taken = services.rates.takeSome(
            units, viewer: viewer, address: address, tenantMax: tenantMax)
        var used = 0
        defer {
            services.rates.putBack(
                taken - used, viewer: viewer, address: address, tenantMax: tenantMax)
        }
        let done = try await work(taken)
        used = done.used
        return done.value
    }

    // MARK: - Queries

    /// What a level's statements answered; filled by the flush.
    fileprivate final class Level {
        var result: Result<[Rows], BookplateError>?
    }

    /// The result of one statement, available after the flush.
    struct PendingRows: PendingResult {
        fileprivate let level: Level
        fileprivate let index: Int

        func rows() throws(BookplateError) -> Rows {
            guard let rows = try level.result?.get(), index < rows.count else {
                throw .internalError
            }
            return rows[index]
        }
    }

    package var needsFlush: Bool { segment.count > 0 }

    /// Adds a statement to the level's round trip. It cannot write.
    func query(_ statement: Statement, _ parameters: Parameters) -> PendingRows {
        if segment.count == 0, let viewer {
            segment = openSegment(for: viewer, isReadOnly: true)
        }
        segment.append(statement, parameters)
        return PendingRows(level: level, index: segment.count - 1)
    }

    /// The level's look-ups of ISBNs: what the catalogue does not know is asked of the outside sources for all of
    /// them at once, within the flush.
    func lookUp(_ entry: ISBNLookups.Entry) {
        if lookups == nil { lookups = ISBNLookups() }
        lookups?.entries.append(entry)
    }

    package func flush() async {
        var segment = segment
        let (level, lookups) = (level, lookups)
        self.segment = Pipeline(isReadOnly: true)
        self.level = Level()
        self.lookups = nil
        segment.rowBytesMax = rowBytesLeft
        do throws(BookplateError) {
            let rows = try await run(segment)
            if let left = rowBytesLeft {
                rowBytesLeft = left - rows.reduce(0) { $0 + $1.byteCount }
            }
            level.result = .success(rows)
        } catch {
            level.result = .failure(error)
        }
        await lookups?.askOutside(for: self)
    }

    /// Runs statements that cannot write in a round trip of their own.
    func read(
        _ fill: (inout Pipeline, Viewer) throws(BookplateError) -> Void
    ) async throws(BookplateError) -> [Rows] {
        try await run(isReadOnly: true, fill)
    }

    /// Runs statements that cannot write in one round trip of their own.
    ///
    /// - Parameter fill: Appends the statements and returns the keys of the results to read, in any form.
    func read<Keys>(
        _ fill: (inout Pipeline, Viewer) throws(BookplateError) -> Keys
    ) async throws(BookplateError) -> (results: PipelineResults, keys: Keys) {
        try await results(isReadOnly: true, fill)
    }

    /// Runs statements that cannot write in one round trip of their own.
    ///
    /// - Parameter fill: Appends the statements and returns the key of the only result to read.
    /// - Returns: The decoded rows of that result.
    func read<Row>(
        _ fill: (inout Pipeline, Viewer) throws(BookplateError) -> ResultKey<Row>
    ) async throws(BookplateError) -> [Row] {
        let (results, key) = try await results(isReadOnly: true, fill)
        return results[key]
    }

    // MARK: - Mutations

    /// Runs statements in one transaction and one round trip, as the caller.
    ///
    /// - Returns: the rows of each statement that `fill` appended.
    func write(
        _ fill: (inout Pipeline, Viewer) throws(BookplateError) -> Void
    ) async throws(BookplateError) -> [Rows] {
        try await run(isReadOnly: false, fill)
    }

    /// Runs statements in one transaction and one round trip, as the caller.
    ///
    /// - Parameter fill: Appends the statements and returns the keys of the results to read, in any form.
    func write<Keys>(
        _ fill: (inout Pipeline, Viewer) throws(BookplateError) -> Keys
    ) async throws(BookplateError) -> (results: PipelineResults, keys: Keys) {
        try await results(isReadOnly: false, fill)
    }

    /// Runs statements in one transaction and one round trip, as the caller.
    ///
    /// - Parameter fill: Appends the statements and returns the key of the only result to read.
    /// - Returns: The decoded rows of that result.
    func write<Row>(
        _ fill: (inout Pipeline, Viewer) throws(BookplateError) -> ResultKey<Row>
    ) async throws(BookplateError) -> [Row] {
        let (results, key) = try await results(isReadOnly: false, fill)
        return results[key]
    }

    /// Runs statements that need no caller: sign-in, before there is one.
    func anonymous(
        _ fill: (inout Pipeline) -> Void
    ) async throws(BookplateError) -> [Rows] {
        var segment = Pipeline(statistics: statistics)
        fill(&segment)
        return try await run(segment)
    }

    // MARK: - Segments

    private func results<Keys>(
        isReadOnly: Bool, _ fill: (inout Pipeline, Viewer) throws(BookplateError) -> Keys
    ) async throws(BookplateError) -> (results: PipelineResults, keys: Keys) {
        let viewer = try caller()
        var pipeline = openSegment(for: viewer, isReadOnly: isReadOnly)
        let keys = try fill(&pipeline, viewer)
        let rows = try await run(pipeline)
        return (PipelineResults(rows), keys)
    }

    private func run(
        isReadOnly: Bool, _ fill: (inout Pipeline, Viewer) throws(BookplateError) -> Void
    ) async throws(BookplateError) -> [Rows] {
        let viewer = try caller()
        var segment = openSegment(for: viewer, isReadOnly: isReadOnly)
        try fill(&segment, viewer)
        return Array(try await run(segment).dropFirst())
    }

    private static let begin = Statement("SELECT begin_request($1, $2, $3, $4)")
    /// The same for a request that only reads, without a function in PL/pgSQL to call. Select lists are evaluated from
    /// left to right; were they not, the policy on sessions would hide them all, and nobody would get in.
    private static let beginReading = Statement(
        """
        SELECT set_config('app.user_id', $1::text, true), \
        set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), \
        CASE WHEN NOT EXISTS (SELECT FROM sessions WHERE user_id = $1 AND id = $3 \
        AND revoked_at IS NULL AND expires_at > now()) THEN refuse_session() END
        """)
    private static let goOn = Statement(
        """
        SELECT set_config('app.user_id', $1::text, true), \
        set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true)
        """)

    /// A segment that says who calls. The request's first also asks whether the session is alive, and
    /// so does every one that writes.
    private func openSegment(for viewer: Viewer, isReadOnly: Bool) -> Pipeline {
        var segment = Pipeline(isReadOnly: isReadOnly, statistics: statistics)
        var parameters = Parameters.of(viewer.userID, viewer.tenantID)
        if isReadOnly, begunFor == viewer {
            segment.append(Self.goOn, parameters)
            return segment
        }
        begunFor = viewer
        parameters.append(uuid: viewer.sessionID)
        if isReadOnly {
            segment.append(Self.beginReading, parameters)
        } else {
            parameters.append(bool: false)
            segment.append(Self.begin, parameters)
            segment.notify(Hub.changeChannel, viewer.userID.description)
        }
        return segment
    }

    private func run(_ segment: Pipeline) async throws(BookplateError) -> [Rows] {
        let start = explanation == nil ? nil : ContinuousClock.now
        defer { if let start { explanation?.add(segment, .now - start) } }
        do throws(PostgresError) {
            guard segment.isReadOnly else { return try await change(segment) }
            if let rows = try await replicaRows(segment) { return rows }
            return try await database.run(segment)
        } catch .rowsTooLarge {
            hasLoadedTooMuch = true
            // No client receives this error: that of a response that is too large replaces the response.
            throw .internalError
        } catch {
            throw services.describe(error, requestID)
        }
    }

    private func change(_ segment: Pipeline) async throws(PostgresError) -> [Rows] {
        readsFrom = database
        // Whatever came of it: a lost answer may have been a good one.
        defer { if let viewer { services.replica?.changed(viewer.userID) } }
        return try await database.run(segment)
    }

    /// Returns the rows from the replica; nil if it is not to be read, or has an error. The primary is read then.
    ///
    /// - Throws: `.rowsTooLarge` only, since the primary has the same rows.
    private func replicaRows(_ segment: Pipeline) async throws(PostgresError) -> [Rows]? {
        if readsFrom == nil {
            readsFrom =
                viewer.flatMap { services.replica?.pool(for: $0, beside: database) } ?? database
        }
        guard let replica = readsFrom, replica !== database else { return nil }
        var segment = segment
        segment.timeout = Replica.timeout
        do throws(PostgresError) {
            return try await replica.run(segment)
        } catch {
            if case .rowsTooLarge = error { throw error }
            readsFrom = database
            return nil
        }
    }

    // MARK: - Answers

    /// The error as a field has it. A request that the server cancelled because it took too long is the server's fault,
    /// and its client is still there.
    func fieldError(_ error: BookplateError) -> FieldError {
        let told = error == .cancelled && hasTimedOut() ? .internalError : error
        return told.fieldError(requestID: requestID)
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

extension ArgumentValues {
    /// Returns the argument `first`.
    ///
    /// - Throws: `.badUserInput` unless it is between 1 and `PageSize.max`.
    func pageSize(default: Int = 20) throws(BookplateError) -> Int {
        try mappingError(BookplateError.init) { () throws(RowError) in
            try PageSize(self, default: `default`).first
        }
    }
}

extension BookplateError {
    init(_ error: RowError) {
        switch error {
        case .unexpectedParents: self = .internalError
        case .invalidCursor:
            self = .badUserInput(
                field: "after",
                "This cursor does not belong to this list. Start again without a cursor.")
        case .invalidPageSize(let max):
            self = .badUserInput(
                field: "first", "The page size must be between 1 and \(max).")
        }
    }
}

/// A prepared load of this product: the context is its own, and its errors are the catalogue's.
protocol RequestLoad: PreparedLoad {
    func start(
        for parents: any ObjectBatch, arguments: ArgumentValues, in request: RequestContext
    ) throws(BookplateError) -> Load
}

extension RequestLoad {
    func start(
        for parents: any ObjectBatch, arguments: ArgumentValues, in context: any ExecutionContext
    ) -> Load {
        guard let request = context as? RequestContext else {
            // The server executes its schema with no other context.
            preconditionFailure("Bookplate's schema is executed in a RequestContext")
        }
        do throws(BookplateError) {
            return try start(for: parents, arguments: arguments, in: request)
        } catch {
            return .ready(.failed(parents.count, request.fieldError(error)))
        }
    }
}
