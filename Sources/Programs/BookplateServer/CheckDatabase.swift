import Glibc
import Logging
import Postgres
import Requests

/// Throws an error if the database role is not subject to row-level security (a superuser, a role with BYPASSRLS, or an
/// owner), or if triggers of the tables are disabled.
///
/// An unreachable database is not an error: the server starts and waits for it.
func checkDatabase(_ url: String, _ logger: Logger) throws {
    do throws(PostgresError) {
        _ = try ConnectionString(url)
    } catch .connectFailed(let reason) {
        throw StartError(
            message:
                "DATABASE_URL is not a connection string of PostgreSQL, such as postgresql://bookplate_app@localhost/bookplate: \(reason)",
            code: 78)
    }
    let connection: AdminConnection
    do throws(PostgresError) {
        connection = try openConnection(url)
    } catch .connectFailed, .connectionLost {
        return
    } catch {
        throw StartError(
            message:
                "the database refused the connection: \(error). Check the role and the password in DATABASE_URL",
            code: 69)
    }
    switch connection.pooler {
    case .none, .session: break
    case .transaction:
        throw StartError(message: "DATABASE_URL: \(Pooler.refusal)", code: 78)
    case .raw:
        throw StartError(message: "DATABASE_URL: \(Pooler.rawRefusal)", code: 78)
    case .unknown:
        // The pools determine it again whenever they connect.
        logger.warning("DATABASE_URL: \(Pooler.undetermined)")
    }
    let power: String?
    let disabledTriggers: String?
    do throws(PostgresError) {
        power = try DatabaseCheck.rolePower(connection)
        disabledTriggers = try DatabaseCheck.disabledTriggers(connection)
    } catch .connectionLost {
        // The pools check the role of each connection, and `/health/ready` the triggers.
        return
    }
    if let power {
        throw StartError(
            message:
                "DATABASE_URL logs in as a role that \(power), so row-level security does not apply to it. "
                + "Use the role bookplate_app, and BOOKPLATE_ADMIN_DATABASE_URL for the owner.",
            code: 78)
    }
    if let disabledTriggers {
        throw StartError(
            message:
                "the database would lose changes: \(disabledTriggers). Run bookplate-admin doctor, which says what to do",
            code: 78)
    }
}

/// Connects, up to three times if the mode of a connection pooler cannot be determined.
private func openConnection(_ url: String) throws(PostgresError) -> AdminConnection {
    var attempt = 1
    while true {
        let connection = try AdminConnection(url, applicationName: "bookplate")
        if connection.pooler != .unknown || attempt == 3 { return connection }
        attempt += 1
        usleep(500_000)
    }
}
