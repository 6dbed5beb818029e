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
    let rows = try connection.query(
        """
        SELECT current_user::text, rolsuper OR rolbypassrls \
        OR EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
        WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p') AND c.relowner = r.oid) \
        FROM pg_roles r WHERE rolname = current_user
        """)
    if rows.bool(0, 1) == true {
        throw StartError(
            message:
                "DATABASE_URL logs in as \(rows.text(0, 0) ?? "?"), whom row-level security does "
                + "not bind. Use the role bookplate_app, and BOOKPLATE_ADMIN_DATABASE_URL for the owner.",
            code: 78)
    }
}
