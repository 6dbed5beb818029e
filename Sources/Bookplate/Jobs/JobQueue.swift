import Postgres

/// The queue as a worker sees it. The server's role reaches the table through these functions only.
struct JobQueue: Sendable {
    let database: ConnectionPool
    /// Whom `jobs list` shows.
    let worker: String
    let lease: Duration

    /// An answer that comes later is of no use to a lease.
    private static let timeout = Duration.seconds(3)

    private static let schedule = Statement("SELECT schedule_job($1, $2, $3)")
    private static let claim = Statement(
        """
        SELECT id, fence, user_id, kind, payload::text, attempt, priority, postponed_ms \
        FROM claim_jobs($1, $2, $3, $4)
        """)
    private static let renew = Statement("SELECT renew_jobs($1, $2, $3)")
    private static let finish = Statement("SELECT finish_job($1, $2)")
    private static let fail = Statement("SELECT fail_job($1, $2, $3, $4)")
    private static let postpone = Statement("SELECT postpone_job($1, $2, $3, $4)")
    private static let release = Statement("SELECT release_jobs($1, $2)")

    private func run(
        _ statement: Statement, _ parameters: Parameters
    ) async throws(PostgresError) -> Rows {
        var segment = Pipeline(timeout: Self.timeout)
        segment.append(statement, parameters)
        return try await database.run(segment)[0]
    }

    /// Sees to it that the kind is done again and again.
    func schedule(
        _ kind: String, every: Duration, attemptsMax: Int
    ) async throws(PostgresError) {
        var parameters = Parameters()
        parameters.append(text: kind)
        parameters.append(int64: every.milliseconds)
        parameters.append(int32: Int32(clamping: attemptsMax))
        _ = try await run(Self.schedule, parameters)
    }

    /// Takes jobs that are due, of each kind as many as there is room for.
    func claim(_ capacity: [String: Int]) async throws(PostgresError) -> [ClaimedJob] {
        let capacity = capacity.sorted { $0.key < $1.key }
        var parameters = Parameters()
        parameters.append(texts: capacity.map(\.key))
        parameters.append(int32s: capacity.map { Int32(clamping: $0.value) })
        parameters.append(text: worker)
        parameters.append(int32: Int32(clamping: lease.milliseconds))
        let rows = try await run(Self.claim, parameters)
        return (0..<rows.count).compactMap { row in
            guard let id = rows.uuid(row, 0), let fence = rows.int32(row, 1),
                let kind = rows.text(row, 3), let payload = rows.text(row, 4),
                let attempt = rows.int32(row, 5)
            else { return nil }
            return ClaimedJob(
                lease: JobLease(id: id, fence: fence), kind: kind, userID: rows.uuid(row, 2),
                payload: Array(payload.utf8), attempt: Int(attempt),
                priority: rows.int32(row, 6).flatMap { JobPriority(rawValue: $0) } ?? .background,
                postponedFor: rows.int64(row, 7).map { .milliseconds($0) })
        }
    }

    /// Keeps the jobs for another lease.
    ///
    /// - Returns: those that are still the worker's.
    func renew(_ leases: [JobLease]) async throws(PostgresError) -> Set<UUID> {
        var parameters = Parameters()
        parameters.append(uuids: leases.map(\.id))
        parameters.append(int32s: leases.map(\.fence))
        parameters.append(int32: Int32(clamping: lease.milliseconds))
        let rows = try await run(Self.renew, parameters)
        return Set((0..<rows.count).compactMap { rows.uuid($0, 0) })
    }

    /// Lets go of the job; a job that is another worker's by now stays as it is.
    func settle(_ lease: JobLease, _ settlement: JobSettlement) async throws(PostgresError) {
        var parameters = Parameters()
        switch settlement {
        case .finished:
            parameters.append(uuid: lease.id)
            parameters.append(int32: lease.fence)
            _ = try await run(Self.finish, parameters)
        case .failed(let message, let delay):
            parameters.append(uuid: lease.id)
            parameters.append(int32: lease.fence)
            parameters.append(text: message)
            parameters.append(int64: delay?.milliseconds)
            _ = try await run(Self.fail, parameters)
        case .postponed(let message, let delay):
            parameters.append(uuid: lease.id)
            parameters.append(int32: lease.fence)
            parameters.append(text: message)
            parameters.append(int64: delay.milliseconds)
            _ = try await run(Self.postpone, parameters)
        case .released:
            parameters.append(uuids: [lease.id])
            parameters.append(int32s: [lease.fence])
            _ = try await run(Self.release, parameters)
        }
    }
}
