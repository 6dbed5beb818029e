import Postgres

/// The version of the newest migration when this program was built.
package let schemaVersion: Int64 = 20_261_128_120_000

/// The checksum of all files in `migrations/functions` when this program was built.
package let functionsChecksum =
    "3e0d2455eff1f3ad33778fd365cc6ced6db74f53b7ca0a7fcd2058d564343bf1"

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

private let hasReplacedChain = Statement(
    "SELECT EXISTS (SELECT FROM schema_migrations WHERE version = $1 AND name = $2)")

/// The time limit of the check, because load balancers expect an answer within a second.
private let readinessTimeout = Duration.milliseconds(800)

/// Returns the reason why requests cannot be served now; nil if they can.
package func readiness(of database: ConnectionPool) async -> String? {
    var schema = Parameters()
    schema.append(int64: schemaVersion)
    schema.append(text: functionsChecksum)
    var chain = Parameters()
    chain.append(int64: ReplacedChain.version)
    chain.append(text: ReplacedChain.name)
    do throws(PostgresError) {
        if try await isTrue(hasSchema, schema, database) { return nil }
        return try await isTrue(hasReplacedChain, chain, database)
            ? ReplacedChain.message : "migrations are missing: run bookplate-admin migrate up"
    } catch {
        return "the database cannot be reached: run bookplate-admin doctor on this machine"
    }
}

/// Returns the result of a statement; false if the tables that it reads do not exist yet, or are not yet readable.
private func isTrue(
    _ statement: Statement, _ parameters: Parameters, _ database: ConnectionPool
) async throws(PostgresError) -> Bool {
    do throws(PostgresError) {
        var pipeline = Pipeline.one(statement, parameters, isReadOnly: true)
        pipeline.timeout = readinessTimeout
        return try await database.run(pipeline)[0].bool(0, 0) == true
    } catch {
        guard [.undefinedTable, .insufficientPrivilege].contains(error.sqlState) else {
            throw error
        }
        return false
    }
}
