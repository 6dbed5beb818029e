import Config
import Postgres

/// The owner's database, as it is configured.
func connect(_ configuration: Configuration) throws -> AdminConnection {
    let url = try configuration.database.adminRequired()
    do throws(PostgresError) {
        return try AdminConnection(url)
    } catch {
        throw Failure(error)
    }
}
