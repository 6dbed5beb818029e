import Config
import Operations
import Postgres

/// Connects to the configured database as the owner of the tables. The audit log names the operator in the events of this
/// connection.
func connect(_ configuration: Configuration) throws -> AdminConnection {
    let connection = try AdminConnection(try configuration.database.adminRequired())
    try AuditLog.setOperator(operatorName(), connection)
    return connection
}
