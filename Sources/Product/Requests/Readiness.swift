import Postgres
import Synchronization

/// Whether the database has, or has had, the schema that this program needs.
///
/// A later version contains the changes of this one, so an older server stays ready on the schema of a newer release.
private let hasSchema = Statement(
    """
    SELECT EXISTS (
        SELECT
        FROM schema_states
        WHERE version > $1 OR (version = $1 AND functions = $2)
    )
    """)

/// The time limit of the check, because load balancers expect an answer within a second.
private let readinessTimeout = Duration.milliseconds(800)

/// When a request last waited in vain for a database, for example for a lock.
package final class RequestTimeouts: Sendable {
    /// How long requests are assumed to wait in vain after one has.
    private static let memory = Duration.seconds(30)
    private let last = Mutex<ContinuousClock.Instant?>(nil)

    package func record() { last.withLock { $0 = .now } }

    var areRecent: Bool {
        last.withLock { $0 }.map { .now - $0 < Self.memory } ?? false
    }
}

/// In milliseconds, less than `readinessTimeout`.
private let setLockTimeout = Statement("SELECT set_config('lock_timeout', '500', true)")

/// Reads no row, but waits while one of the tables is locked that almost every request reads.
private let readsTables = Statement(
    """
    SELECT NOT EXISTS (
        SELECT
        FROM users u
        JOIN sessions s ON s.user_id = u.id
        JOIN books b ON b.user_id = u.id
        WHERE false
    )
    """)

/// Returns the reason why requests cannot be served now; nil if they can.
///
/// A request that has waited in vain is not a reason: it may concern a locked row of one reader. After one, however, the tables of
/// readers must be readable, too.
package func readiness(of database: ConnectionPool, after timeouts: RequestTimeouts) async
    -> String?
{
    if let reason = await readiness(of: database) { return reason }
    guard timeouts.areRecent else { return nil }
    var pipeline = Pipeline(isReadOnly: true, timeout: readinessTimeout)
    pipeline.append(setLockTimeout)
    pipeline.append(readsTables)
    do throws(PostgresError) {
        _ = try await database.run(pipeline)
        return nil
    } catch {
        return
            "the database does not respond to requests (\(error)): look for locks in pg_stat_activity"
    }
}

private let writeRefusal = Statement(DatabaseCheck.writeRefusal)

/// Returns the reason why the schema of the database cannot be used now, or why the database cannot be written; nil if it can.
package func readiness(of database: ConnectionPool) async -> String? {
    var schema = Parameters()
    schema.append(int64: schemaVersion)
    schema.append(text: functionsChecksum)
    var pipeline = Pipeline(isReadOnly: true, timeout: readinessTimeout)
    pipeline.append(hasSchema, schema)
    pipeline.append(writeRefusal)
    let missing = "migrations are missing: run bookplate-admin migrate up"
    do throws(PostgresError) {
        let results = try await database.run(pipeline)
        guard results[0].bool(0, 0) == true else { return missing }
        return results[1].text(0, 0).map { "\($0): run bookplate-admin doctor" }
    } catch {
        // The table does not exist yet, or is not readable yet.
        return [.undefinedTable, .insufficientPrivilege].contains(error.sqlState)
            ? missing : "the database cannot be reached: run bookplate-admin doctor on this machine"
    }
}
