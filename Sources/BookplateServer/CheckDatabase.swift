import Bookplate
import Postgres

/// Refuses a role that row-level security does not bind: a superuser, one with BYPASSRLS, an owner.
///
/// A database that cannot be reached now is no reason not to start: it is waited for.
func checkDatabase(_ url: String) throws {
    let connection: AdminConnection
    do throws(PostgresError) {
        connection = try AdminConnection(url, applicationName: "bookplate")
    } catch .connectFailed {
        return
    } catch {
        throw StartError(message: "the database refuses: \(error)", code: 69)
    }
    if let power = try DatabaseCheck.rolePower(connection) {
        throw StartError(
            message:
                "DATABASE_URL logs in as a role that \(power), so row-level security does not bind it. "
                + "Use the role bookplate_app, and BOOKPLATE_ADMIN_DATABASE_URL for the owner.",
            code: 78)
    }
}
