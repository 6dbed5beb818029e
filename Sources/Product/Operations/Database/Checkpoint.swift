import Postgres

/// The progress of a long task, from which the next run continues: a row of the table `checkpoints`.
struct Checkpoint {
    /// The last processed item, in a format that the task defines.
    var position: String
    /// The number of processed items.
    var done = 0
    /// The number of processed items with a result.
    var found = 0

    /// Returns the progress of a task; nil if it starts from the beginning.
    ///
    /// - Parameter secondsMax: The maximum age of the progress; nil if it does not expire.
    static func of(
        _ task: String, secondsMax: Int32? = nil, _ connection: AdminConnection
    ) throws(PostgresError) -> Checkpoint? {
        var parameters = Parameters()
        parameters.append(text: task)
        parameters.append(int32: secondsMax)
        return try connection.query(
            """
            SELECT position, done, found
            FROM checkpoints
            WHERE task = $1 AND ($2::int IS NULL OR updated_at > now() - make_interval(secs => $2))
            """, parameters
        ).decode(Checkpoint.self).first
    }

    /// Stores this value as the progress of a task.
    func keep(as task: String, _ connection: AdminConnection) throws(PostgresError) {
        var parameters = Parameters()
        parameters.append(text: task)
        parameters.append(text: position)
        parameters.append(int64: Int64(done))
        parameters.append(int64: Int64(found))
        try connection.query(
            """
            INSERT INTO checkpoints (task, position, done, found)
            VALUES ($1, $2, $3, $4)
            ON CONFLICT (task) DO UPDATE
            SET position = excluded.position,
                done = excluded.done,
                found = excluded.found,
                updated_at = excluded.updated_at
            """, parameters)
    }

    /// Deletes the progress of a task, so that the next run starts from the beginning.
    static func forget(
        _ task: String, _ connection: AdminConnection
    ) throws(PostgresError) {
        var parameters = Parameters()
        parameters.append(text: task)
        try connection.query("DELETE FROM checkpoints WHERE task = $1", parameters)
    }
}

extension Checkpoint: RowDecodable {
    init?(_ row: inout RowReader) {
        guard let position = row.text() else { return nil }
        self.position = position
        done = Int(row.int64() ?? 0)
        found = Int(row.int64() ?? 0)
    }
}
