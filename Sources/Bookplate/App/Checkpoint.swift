import Postgres

/// How far a task has come that takes long, so that the next run goes on there: a row of `checkpoints`.
struct Checkpoint {
    /// What was done last, as the task writes it.
    var position: String
    /// How much was done, and of that what brought something.
    var done = 0
    var found = 0

    static func of(
        _ task: String, _ connection: AdminConnection
    ) throws(PostgresError) -> Checkpoint? {
        var parameters = Parameters()
        parameters.append(text: task)
        let rows = try connection.query(
            "SELECT position, done, found FROM checkpoints WHERE task = $1", parameters)
        return rows.text(0, 0).map { position in
            Checkpoint(
                position: position, done: Int(rows.int64(0, 1) ?? 0),
                found: Int(rows.int64(0, 2) ?? 0))
        }
    }

    func keep(as task: String, _ connection: AdminConnection) throws(PostgresError) {
        var parameters = Parameters()
        parameters.append(text: task)
        parameters.append(text: position)
        parameters.append(int64: Int64(done))
        parameters.append(int64: Int64(found))
        try connection.query(
            """
            INSERT INTO checkpoints (task, position, done, found) VALUES ($1, $2, $3, $4) \
            ON CONFLICT (task) DO UPDATE SET position = excluded.position, done = excluded.done, \
            found = excluded.found, updated_at = now()
            """, parameters)
    }

    /// The next run begins with the first.
    static func forget(
        _ task: String, _ connection: AdminConnection
    ) throws(PostgresError) {
        var parameters = Parameters()
        parameters.append(text: task)
        try connection.query("DELETE FROM checkpoints WHERE task = $1", parameters)
    }
}
