import Postgres

/// A job as an operator sees it: not what it is about, which is a reader's.
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
    /// RFC 3339, as all instants here.
    package let runAt: String
    package let createdAt: String
    package let worker: String?
    package let lastError: String?

    /// Which jobs a command is about; nil is any.
    package struct Selection: Sendable {
        package var state: State?
        package var kind: String?
        package var ids: [UUID]?
        /// Not touched for so long.
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
            ($1::job_state IS NULL OR state = $1) AND ($2::text IS NULL OR kind = $2) \
            AND ($3::uuid[] IS NULL OR id = ANY($3)) \
            AND ($4::int IS NULL OR updated_at < now() - $4 * interval '1 day')
            """
    }

    /// The jobs, those first that are next or were touched last.
    package static func list(
        _ selection: Selection, limit: Int, _ connection: AdminConnection
    ) throws(PostgresError) -> [JobRecord] {
        var parameters = selection.parameters
        parameters.append(int64: Int64(limit))
        let rows = try connection.query(
            """
            SELECT id, kind, lower(state::text), user_id, attempts, attempts_max, run_at, created_at, \
            worker, last_error FROM jobs WHERE \(Selection.condition) \
            ORDER BY state DESC, run_at, id LIMIT $5
            """, parameters)
        return (0..<rows.count).compactMap { row in
            guard let id = rows.uuid(row, 0), let kind = rows.text(row, 1),
                let state = rows.text(row, 2).flatMap(State.init),
                let attempts = rows.int32(row, 4),
                let attemptsMax = rows.int32(row, 5), let runAt = rows.timestamptz(row, 6),
                let createdAt = rows.timestamptz(row, 7)
            else { return nil }
            return JobRecord(
                id: id, kind: kind, state: state, userID: rows.uuid(row, 3),
                attempts: Int(attempts), attemptsMax: Int(attemptsMax),
                runAt: Instant(microseconds: runAt).text,
                createdAt: Instant(microseconds: createdAt).text, worker: rows.text(row, 8),
                lastError: rows.text(row, 9))
        }
    }

    /// How many jobs there are in each state, by kind.
    package static func counts(
        _ connection: AdminConnection
    ) throws(PostgresError) -> [(kind: String, state: State, count: Int)] {
        let rows = try connection.query(
            "SELECT kind, lower(state::text), count(*) FROM jobs GROUP BY kind, state ORDER BY 1, state"
        )
        return (0..<rows.count).compactMap { row in
            guard let kind = rows.text(row, 0), let state = rows.text(row, 1).flatMap(State.init),
                let count = rows.int64(row, 2)
            else { return nil }
            return (kind, state, Int(count))
        }
    }

    /// Lets dead and waiting jobs run now, with all their attempts before them. One whose work has been
    /// asked for again meanwhile stays dead.
    ///
    /// - Returns: how many.
    package static func retry(
        _ selection: Selection, _ connection: AdminConnection
    ) throws(PostgresError) -> Int {
        let rows = try connection.query(
            """
            UPDATE jobs j SET state = 'READY', attempts = 0, postponed_since = NULL, run_at = now(), \
            updated_at = now() \
            WHERE \(Selection.condition) AND state <> 'RUNNING' \
            AND NOT EXISTS (SELECT FROM jobs t WHERE t.id <> j.id AND t.state <> 'DEAD' \
            AND t.kind = j.kind AND t.key = j.key AND t.user_id IS NOT DISTINCT FROM j.user_id) \
            AND NOT EXISTS (SELECT FROM jobs t WHERE j.state = 'DEAD' AND t.state = 'DEAD' \
            AND t.kind = j.kind AND t.key = j.key AND t.user_id IS NOT DISTINCT FROM j.user_id \
            AND (t.updated_at, t.id) > (j.updated_at, j.id))
            """, selection.parameters)
        try connection.execute("NOTIFY jobs")
        return rows.affectedCount
    }

    /// Deletes dead jobs.
    ///
    /// - Returns: how many.
    package static func purge(
        _ selection: Selection, _ connection: AdminConnection
    ) throws(PostgresError) -> Int {
        try connection.query(
            "DELETE FROM jobs WHERE \(Selection.condition) AND state = 'DEAD'",
            selection.parameters
        ).affectedCount
    }
}
