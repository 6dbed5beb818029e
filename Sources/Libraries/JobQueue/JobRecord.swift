import Postgres

/// A job as shown to operators. It does not contain the payload, which is user data.
package struct JobRecord: Sendable {
    package enum State: String, Sendable, CaseIterable {
        case ready, running, dead
    }

    package let id: UUID
    package let kind: String
    package let state: State
    package let userID: UUID?
    package let attempts: Int
    package let attemptsMax: Int
    /// Microseconds since the Unix epoch.
    package let runAt: Int64
    /// Microseconds since the Unix epoch.
    package let createdAt: Int64
    package let worker: String?
    package let lastError: String?

    /// The jobs that a command applies to. A property that is nil selects all.
    package struct Selection: Sendable {
        package var state: State?
        package var kind: String?
        package var ids: [UUID]?
        /// Selects jobs that have not changed for this number of days.
        package var olderThanDays: Int32?

        package init(
            state: State? = nil, kind: String? = nil, ids: [UUID]? = nil,
            olderThanDays: Int32? = nil
        ) {
            self.state = state
            self.kind = kind
            self.ids = ids
            self.olderThanDays = olderThanDays
        }

        fileprivate var parameters: Parameters {
            var parameters = Parameters()
            parameters.append(text: state?.rawValue.uppercased(), as: .inferred)
            parameters.append(text: kind)
            if let ids { parameters.append(uuids: ids) } else { parameters.appendNull(.uuid.array) }
            parameters.append(int32: olderThanDays)
            return parameters
        }

        fileprivate static let condition = """
            ($1::job_state IS NULL OR state = $1)
            AND ($2::text IS NULL OR kind = $2)
            AND ($3::uuid[] IS NULL OR id = ANY($3))
            AND ($4::int IS NULL OR updated_at < now() - $4 * interval '1 day')
            """
    }

    /// Returns jobs, dead ones first, then in the order in which they run.
    package static func list(
        _ selection: Selection, limit: Int, _ connection: AdminConnection
    ) throws(PostgresError) -> [JobRecord] {
        var parameters = selection.parameters
        parameters.append(int64: Int64(limit))
        let rows = try connection.query(
            """
            SELECT id, kind, lower(state::text), user_id, attempts, attempts_max,
                run_at, created_at, worker, last_error
            FROM jobs
            WHERE \(Selection.condition)
            ORDER BY state DESC, run_at, id
            LIMIT $5
            """, parameters)
        return rows.decode()
    }

    /// Returns the number of the selected jobs of each kind and state.
    package static func counts(
        _ selection: Selection, _ connection: AdminConnection
    ) throws(PostgresError) -> [Count] {
        let rows = try connection.query(
            """
            SELECT kind, lower(state::text), count(*)
            FROM jobs
            WHERE \(Selection.condition)
            GROUP BY kind, state
            ORDER BY 1, state
            """, selection.parameters)
        return rows.decode()
    }

    /// The number of jobs of one kind and state.
    package struct Count: RowDecodable {
        package let kind: String
        package let state: State
        package let count: Int

        package init?(_ row: inout RowReader) {
            guard let kind = row.text(), let state = row.text().flatMap(State.init),
                let count = row.int64()
            else { return nil }
            self.kind = kind
            self.state = state
            self.count = Int(count)
        }
    }

    /// Makes dead and waiting jobs run now, with all attempts available again. A dead job stays dead if a newer job does the
    /// same work.
    ///
    /// - Returns: The number of changed jobs.
    package static func retry(
        _ selection: Selection, _ connection: AdminConnection
    ) throws(PostgresError) -> Int {
        let rows = try connection.query(
            """
            UPDATE jobs j
            SET state = 'READY', attempts = 0, postponed_since = NULL, run_at = now(), updated_at = now()
            WHERE \(Selection.condition)
            AND state <> 'RUNNING'
            -- No other job for the same work is waiting or running.
            AND NOT EXISTS (
                SELECT FROM jobs other
                WHERE other.id <> j.id AND other.state <> 'DEAD'
                AND other.kind = j.kind AND other.key = j.key
                AND other.user_id IS NOT DISTINCT FROM j.user_id
            )
            -- Of several dead jobs for the same work, only the newest one runs again.
            AND NOT EXISTS (
                SELECT FROM jobs other
                WHERE j.state = 'DEAD' AND other.state = 'DEAD'
                AND other.kind = j.kind AND other.key = j.key
                AND other.user_id IS NOT DISTINCT FROM j.user_id
                AND (other.updated_at, other.id) > (j.updated_at, j.id)
            )
            """, selection.parameters)
        try connection.execute("NOTIFY \(JobWorker.channel)")
        return rows.affectedCount
    }

    /// Deletes dead jobs.
    ///
    /// - Returns: The number of deleted jobs.
    package static func purge(
        _ selection: Selection, _ connection: AdminConnection
    ) throws(PostgresError) -> Int {
        try connection.query(
            "DELETE FROM jobs WHERE \(Selection.condition) AND state = 'DEAD'",
            selection.parameters
        ).affectedCount
    }
}

extension JobRecord: RowDecodable {
    package init?(_ row: inout RowReader) {
        guard let id = row.uuid(), let kind = row.text(), let state = row.text().flatMap(State.init)
        else { return nil }
        userID = row.uuid()
        guard let attempts = row.int32(), let attemptsMax = row.int32(),
            let runAt = row.timestamptz(), let createdAt = row.timestamptz()
        else { return nil }
        self.id = id
        self.kind = kind
        self.state = state
        self.attempts = Int(attempts)
        self.attemptsMax = Int(attemptsMax)
        self.runAt = runAt
        self.createdAt = createdAt
        worker = row.text()
        lastError = row.text()
    }
}
