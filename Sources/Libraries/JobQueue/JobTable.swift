import Postgres

/// The statements of a worker for the table `jobs`. Functions claim and finish jobs, because these belong to all users.
struct JobTable: Sendable {
    let database: ConnectionPool
    /// The name of the worker that `jobs list` shows.
    let worker: String
    let lease: Duration

    /// The maximum duration of a call. A later result would be useless, because the lease might have expired.
    private static let timeout = Duration.seconds(3)

    /// Adds the repeated job of a kind, or changes its interval and its number of attempts.
    private static let schedule = Statement(
        """
        INSERT INTO jobs AS j (kind, payload, key, every, attempts_max)
        VALUES ($1, '{}', 'schedule', $2 * interval '1 millisecond', $3)
        ON CONFLICT (user_id, kind, key) WHERE key IS NOT NULL AND state <> 'DEAD' DO UPDATE
        SET every = excluded.every,
            attempts_max = excluded.attempts_max,
            run_at = least(j.run_at, excluded.run_at + excluded.every)
        WHERE (j.every, j.attempts_max) IS DISTINCT FROM (excluded.every, excluded.attempts_max)
        """)
    private static let claim = TypedStatement<ClaimedJob>(
        """
        SELECT id, fence, user_id, kind, payload::text, attempt, priority, postponed_ms
        FROM claim_jobs($1, $2, $3, $4, $5, $6)
        """)
    private static let renew = TypedStatement<UUID>("SELECT renew_jobs($1, $2, $3)")
    private static let finish = Statement("SELECT finish_job($1, $2)")
    private static let fail = Statement("SELECT fail_job($1, $2, $3, $4)")
    private static let postpone = Statement("SELECT postpone_job($1, $2, $3, $4)")
    private static let release = Statement("SELECT release_jobs($1, $2)")

    private func run(
        _ statement: Statement, _ parameters: Parameters
    ) async throws(PostgresError) -> Rows {
        var pipeline = Pipeline(timeout: Self.timeout)
        pipeline.append(statement, parameters)
        return try await database.run(pipeline)[0]
    }

    /// Adds the repeated job of a kind unless it exists.
    func schedule(
        _ kind: String, every: Duration, attemptsMax: Int
    ) async throws(PostgresError) {
        var parameters = Parameters()
        parameters.append(text: kind)
        parameters.append(int64: every.milliseconds)
        parameters.append(int32: Int32(clamping: attemptsMax))
        _ = try await run(Self.schedule, parameters)
    }

    /// Claims due jobs.
    ///
    /// - Parameter capacity: The maximum number of jobs of each kind.
    func claim(_ capacity: [String: JobCapacity]) async throws(PostgresError) -> [ClaimedJob] {
        let capacity = capacity.sorted { $0.key < $1.key }
        var parameters = Parameters()
        parameters.append(texts: capacity.map(\.key))
        parameters.append(int32s: capacity.map { Int32(clamping: $0.value.total) })
        parameters.append(int32s: capacity.map { Int32(clamping: $0.value.background) })
        parameters.append(int32s: capacity.map { Int32(clamping: $0.value.ofReader ?? .max) })
        parameters.append(text: worker)
        parameters.append(int32: Int32(clamping: lease.milliseconds))
        return try await run(Self.claim.statement, parameters).decode()
    }

    /// Adds the due jobs of a kind.
    ///
    /// - Parameter statement: `JobHandler.enqueueDue`.
    func enqueueDue(by statement: Statement) async throws(PostgresError) {
        _ = try await run(statement, Parameters())
    }

    /// Extends the leases.
    ///
    /// - Returns: The jobs that the worker still holds.
    func renew(_ leases: [JobLease]) async throws(PostgresError) -> Set<UUID> {
        var parameters = Parameters()
        parameters.append(uuids: leases.map(\.id))
        parameters.append(int32s: leases.map(\.fence))
        parameters.append(int32: Int32(clamping: lease.milliseconds))
        return Set(try await run(Self.renew.statement, parameters).decode(UUID.self))
    }

    /// Ends the lease. A job that another worker holds by now does not change.
    func settle(_ lease: JobLease, _ settlement: JobSettlement) async throws(PostgresError) {
        var parameters = Parameters.of(lease.id)
        parameters.append(int32: lease.fence)
        switch settlement {
        case .finished:
            _ = try await run(Self.finish, parameters)
        case .failed(let message, let delay):
            parameters.append(text: message)
            parameters.append(int64: delay?.milliseconds)
            _ = try await run(Self.fail, parameters)
        case .postponed(let message, let delay):
            parameters.append(text: message)
            parameters.append(int64: delay.milliseconds)
            _ = try await run(Self.postpone, parameters)
        case .released:
            var leases = Parameters()
            leases.append(uuids: [lease.id])
            leases.append(int32s: [lease.fence])
            _ = try await run(Self.release, leases)
        }
    }
}

extension ClaimedJob: RowDecodable {
    init?(_ row: inout RowReader) {
        guard let id = row.uuid(), let fence = row.int32() else { return nil }
        lease = JobLease(id: id, fence: fence)
        userID = row.uuid()
        guard let kind = row.text(), let payload = row.text(), let attempt = row.int32() else {
            return nil
        }
        self.kind = kind
        self.payload = Array(payload.utf8)
        self.attempt = Int(attempt)
        priority = row.int32().flatMap { JobPriority(rawValue: $0) } ?? .background
        postponedFor = row.int64().map { .milliseconds($0) }
    }
}
