import Config
import Postgres

/// Connects to the configured database as the owner of the tables.
func connect(_ configuration: Configuration) throws -> AdminConnection {
    try AdminConnection(try configuration.database.adminRequired())
}
