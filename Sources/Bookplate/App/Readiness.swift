import Postgres

/// The version of the newest migration when this program was built.
package let schemaVersion: Int64 = 20_261_122_205_900

private let newestMigration = Statement("SELECT max(version) FROM schema_migrations")

/// Returns the reason why requests cannot be served now; nil if they can.
package func readiness(of database: ConnectionPool) async -> String? {
    do throws(PostgresError) {
        let pipeline = Pipeline.one(newestMigration, isReadOnly: true)
        let version = try await database.run(pipeline)[0].int64(0, 0) ?? 0
        return version >= schemaVersion
            ? nil : "migrations are missing: run bookplate-admin migrate up"
    } catch {
        return "the database cannot be reached"
    }
}
