import Bookplate
import Config
import Glibc
import Postgres

/// The database as the server and as the owner see it.
struct DatabaseExamination {
    private let configuration: Configuration
    private let migrations: String

    init(_ configuration: Configuration, migrations: String) {
        self.configuration = configuration
        self.migrations = migrations
    }

    func findings() -> [Finding] {
        var findings: [Finding] = []
        examine("database", configuration.database.url, "DATABASE_URL", &findings) {
            connection, findings throws(PostgresError) in
            findings.append(try version(connection))
            findings.append(try role(connection))
            findings.append(try clock(connection))
            findings.append(try connections(connection))
        }
        if let url = configuration.database.readURL {
            examine("replica", url, "BOOKPLATE_READ_DATABASE_URL", &findings) {
                connection, findings throws(PostgresError) in
                findings.append(try replica(connection))
            }
        }
        examine(
            "owner", configuration.database.adminURL, "BOOKPLATE_ADMIN_DATABASE_URL", &findings
        ) { connection, findings throws(PostgresError) in
            findings.append(try rowSecurity(connection))
            findings.append(contentsOf: migrationFindings(connection))
            let invalid = try DatabaseCheck.invalidIndexes(connection)
            if !invalid.isEmpty {
                findings.append(
                    .warning(
                        "indexes", "not valid: \(invalid.joined(separator: ", "))",
                        "run bookplate-admin migrate up, or drop them"))
            }
        }
        return findings
    }

    /// Connects and looks; a database that cannot be asked is one finding.
    private func examine(
        _ check: String, _ url: String?, _ variable: String, _ findings: inout [Finding],
        _ look: (AdminConnection, inout [Finding]) throws(PostgresError) -> Void
    ) {
        guard let url else {
            findings.append(
                .wrong(check, "\(variable) is not set", "say there where the database is"))
            return
        }
        do throws(PostgresError) {
            try look(try AdminConnection(url), &findings)
        } catch {
            let reason = Failure(error).message.split(separator: "\n").joined(separator: " ")
            findings.append(.wrong(check, reason, "look at \(variable) and at the server's log"))
        }
    }

    private func version(_ connection: AdminConnection) throws(PostgresError) -> Finding {
        let rows = try connection.query(
            """
            SELECT current_setting('server_version'), current_setting('server_version_num')::int,
            current_setting('server_encoding')
            """)
        let name = "PostgreSQL \(rows.text(0, 0) ?? "?")"
        if (rows.int32(0, 1) ?? 0) < 150_000 {
            return .wrong("database", "\(name) is too old", "use PostgreSQL 15 or later")
        }
        if rows.text(0, 2) != "UTF8" {
            return .wrong(
                "database", "its encoding is \(rows.text(0, 2) ?? "?")",
                "make a database with ENCODING 'UTF8' and restore into it")
        }
        return .ok("database", "\(name) answers")
    }

    private func role(_ connection: AdminConnection) throws(PostgresError) -> Finding {
        let name = try connection.query("SELECT current_user::text").text(0, 0) ?? "?"
        if let power = try DatabaseCheck.rolePower(connection) {
            return .wrong(
                "role", "\(name) \(power), so row-level security does not bind it",
                "let DATABASE_URL log in as bookplate_app")
        }
        return .ok("role", "row-level security binds \(name)")
    }

    private func clock(_ connection: AdminConnection) throws(PostgresError) -> Finding {
        func now() -> Int64 {
            var time = timespec()
            clock_gettime(CLOCK_REALTIME, &time)
            return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
        }
        let before = now()
        let rows = try connection.query(
            "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::int8")
        let difference = abs((rows.int64(0, 0) ?? 0) - (before + now()) / 2)
        return difference > 2000
            ? .warning(
                "clock", "this machine and the database differ by \(difference) ms",
                "let both follow a time server: tokens and cursors depend on it")
            : .ok("clock", "within \(difference) ms of the database's")
    }

    private func connections(_ connection: AdminConnection) throws(PostgresError) -> Finding {
        let rows = try connection.query(
            """
            SELECT current_setting('max_connections')::int
            - current_setting('superuser_reserved_connections')::int
            """)
        let (wanted, possible) = (configuration.database.connectionsMax, Int(rows.int32(0, 0) ?? 0))
        return wanted > possible
            ? .wrong(
                "connections", "a server wants \(wanted), the database allows \(possible)",
                "lower BOOKPLATE_DATABASE_CONNECTIONS or raise max_connections")
            : .ok("connections", "\(possible) allowed, enough for \(possible / wanted) servers")
    }

    private func replica(_ connection: AdminConnection) throws(PostgresError) -> Finding {
        let rows = try connection.query(
            """
            SELECT pg_is_in_recovery(),
            coalesce(extract(epoch FROM now() - pg_last_xact_replay_timestamp()), 0)::int8
            """)
        if rows.bool(0, 0) != true {
            return .warning(
                "replica", "it is no replica", "let BOOKPLATE_READ_DATABASE_URL lead to a standby")
        }
        let delay = rows.int64(0, 1) ?? 0
        return delay > 30
            ? .warning("replica", "last replayed \(delay) s ago", "look at the standby's log")
            : .ok("replica", "last replayed \(delay) s ago")
    }

    private func rowSecurity(_ connection: AdminConnection) throws(PostgresError) -> Finding {
        let open = try DatabaseCheck.openTables(connection)
        return open.isEmpty
            ? .ok("row security", "forced on every table of users' rows")
            : .wrong(
                "row security", "not forced on \(open.joined(separator: ", "))",
                "ENABLE and FORCE ROW LEVEL SECURITY on them, and find out who changed it")
    }

    private func migrationFindings(_ connection: AdminConnection) -> [Finding] {
        do throws(MigrationError) {
            let plan = try Migrator(connection, folder: migrations).status()
            let pending = plan.entries.filter { $0.record == nil }.count
            let problems = plan.problems.map {
                Finding.wrong("migrations", "\($0)", "see bookplate-admin migrate verify")
            }
            if !problems.isEmpty { return problems }
            return [
                pending == 0
                    ? .ok("migrations", "\(plan.entries.count) run and unchanged")
                    : .wrong(
                        "migrations", "\(pending) have not been run",
                        "run bookplate-admin migrate up")
            ]
        } catch .unreadable {
            return [withoutFiles(connection)]
        } catch {
            return [.wrong("migrations", "\(error)", "see bookplate-admin migrate verify")]
        }
    }

    /// Where the files are not at hand: whether the database is as new as this program.
    private func withoutFiles(_ connection: AdminConnection) -> Finding {
        do throws(PostgresError) {
            let newest = try DatabaseCheck.newestMigration(connection) ?? 0
            return newest >= schemaVersion
                ? .ok(
                    "migrations",
                    "as new as this program (\(newest)); \(migrations) is not here to compare")
                : .wrong(
                    "migrations", "the database is at \(newest), this program at \(schemaVersion)",
                    "run bookplate-admin migrate up")
        } catch {
            return .wrong("migrations", Failure(error).message, "look at the database's log")
        }
    }
}
