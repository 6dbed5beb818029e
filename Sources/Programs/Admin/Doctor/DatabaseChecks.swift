import Config
import JobQueue
import Operations
import Postgres
import Requests

/// Checks the database: as the server's role, as the owner, and the replica.
struct DatabaseChecks {
    private let configuration: Configuration
    private let migrations: Migrate.FolderOptions

    init(_ configuration: Configuration, migrations: Migrate.FolderOptions) {
        self.configuration = configuration
        self.migrations = migrations
    }

    func results() -> [CheckResult] {
        var results: [CheckResult] = []
        connect("database", configuration.database.url, "DATABASE_URL", &results) {
            connection, results throws(PostgresError) in
            results.append(try version(connection))
            results.append(contentsOf: pooler(connection, "DATABASE_URL"))
            results.append(try role(connection))
            results.append(try clock(connection))
            results.append(try connections(connection))
            results.append(try settings(connection, "DATABASE_URL"))
        }
        if let url = configuration.database.directURL, url != configuration.database.url {
            connect("direct", url, "BOOKPLATE_DATABASE_DIRECT_URL", &results) {
                connection, results in
                results.append(contentsOf: pooler(connection, "BOOKPLATE_DATABASE_DIRECT_URL"))
            }
        }
        if let url = configuration.database.readURL {
            connect("replica", url, "BOOKPLATE_READ_DATABASE_URL", &results) {
                connection, results throws(PostgresError) in
                results.append(try replica(connection))
            }
        }
        connect(
            "owner", configuration.database.adminURL, "BOOKPLATE_ADMIN_DATABASE_URL", &results
        ) { connection, results throws(PostgresError) in
            results.append(try settings(connection, "BOOKPLATE_ADMIN_DATABASE_URL"))
            let migrations = try migrationResults(connection)
            let isMigrated = migrations.allSatisfy { $0.state == .ok }
            results += isMigrated ? try schemaResults(connection) : [try rowSecurity(connection)]
            results += migrations
            if isMigrated {
                results.append(try tenants(connection))
                results += try webhooks(connection)
                results += try deadJobs(connection)
                results += try timeZones(connection)
            }
        }
        return results
    }

    /// Connects to a database and runs checks. If the database cannot be used, `check` fails.
    private func connect(
        _ check: String, _ url: String?, _ variable: String, _ results: inout [CheckResult],
        _ run: (AdminConnection, inout [CheckResult]) throws(PostgresError) -> Void
    ) {
        guard let url else {
            results.append(
                .wrong(
                    check, "\(variable) is not set", "set it to the address of the database"))
            return
        }
        do throws(PostgresError) {
            try run(try AdminConnection(url), &results)
        } catch {
            let reason = Failure.reason(error)
            results.append(
                .wrong(check, reason, "check \(variable) and the log of the database server"))
        }
    }

    private func version(_ connection: AdminConnection) throws(PostgresError) -> CheckResult {
        let version = try DatabaseCheck.version(connection)
        let name = "PostgreSQL \(version.name)"
        if version.isTooOld {
            return .wrong("database", "\(name) is too old", "use PostgreSQL 15 or later")
        }
        if !version.isUTF8 {
            return .wrong(
                "database", "its encoding is \(version.encoding)",
                "make a database with ENCODING 'UTF8' and restore into it")
        }
        return .ok("database", "\(name) answers")
    }

    /// Returns nothing if there is no connection pooler.
    private func pooler(_ connection: AdminConnection, _ variable: String) -> [CheckResult] {
        switch connection.pooler {
        case .none: []
        case .session: [.ok("pooler", "the pooler of \(variable) is in session mode")]
        case .transaction:
            [
                .wrong(
                    "pooler",
                    "the pooler of \(variable) is in transaction mode, so clients share prepared statements and settings",
                    "let it use session mode (for PgBouncer: pool_mode = session), or set \(variable) to the address of the database itself"
                )
            ]
        case .raw:
            [
                .wrong(
                    "pooler",
                    "the pooler of \(variable) is Pgpool-II in its mode raw, which confirms writes that it does not commit",
                    "let it use backend_clustering_mode = 'streaming_replication', or set \(variable) to the address of the database itself"
                )
            ]
        case .unknown:
            [
                .warning(
                    "pooler",
                    "it could not be determined whether the pooler of \(variable) is in session mode, because it gave no session to a second connection in time",
                    "run this check again when fewer connections are in use, or let the pooler have more connections"
                )
            ]
        }
    }

    private func role(_ connection: AdminConnection) throws(PostgresError) -> CheckResult {
        let name = try DatabaseCheck.roleName(connection)
        if let power = try DatabaseCheck.rolePower(connection) {
            return .wrong(
                "role", "\(name) \(power), so row-level security does not apply to it",
                "use the role bookplate_app in DATABASE_URL")
        }
        return .ok("role", "row-level security applies to \(name)")
    }

    /// The database server can lack names of zones that an earlier version of its time zone database had.
    private func timeZones(_ connection: AdminConnection) throws(PostgresError) -> [CheckResult] {
        let unknown = try DatabaseCheck.unknownTimeZones(connection)
        guard !unknown.isEmpty else { return [] }
        return [
            .warning(
                "time zones",
                "PostgreSQL does not know \(unknown.count) stored time zones: \(unknown.prefix(5).joined(separator: ", "))",
                "update the time zone database of the database server (Debian: tzdata and tzdata-legacy), or change users.time_zone of these users"
            )
        ]
    }

    private func clock(_ connection: AdminConnection) throws(PostgresError) -> CheckResult {
        let difference = try DatabaseCheck.clockDifferenceMilliseconds(connection)
        guard difference > DatabaseCheck.clockDifferenceMaxMilliseconds else {
            return .ok("clock", "differs from the database's clock by \(difference) ms")
        }
        let message = "the clocks of this machine and the database differ by \(difference) ms"
        let remedy = "synchronize both with a time server, because tokens and cursors contain times"
        return difference > DatabaseCheck.clockDifferenceUsableMilliseconds
            ? .wrong("clock", message, remedy) : .warning("clock", message, remedy)
    }

    /// Finds settings of the database or of a role with which writes fail, or with which confirmed changes can be lost. The
    /// databases of developers may have the latter.
    private func settings(
        _ connection: AdminConnection, _ variable: String
    ) throws(PostgresError) -> CheckResult {
        let check = "settings of \(variable)"
        let found = try DatabaseCheck.harmfulSettings(connection)
        if found.isEmpty { return .ok(check, "writes are possible and durable") }
        let message = found.map { "\($0.name) is \($0.value): \($0.consequence)" }
            .joined(separator: "; ")
        let remedy =
            "correct it in postgresql.conf, or reset it with ALTER ROLE or ALTER DATABASE … RESET \(found[0].name)"
        let isWrong =
            configuration.environment == .production || found.contains(where: \.preventsWrites)
        return isWrong ? .wrong(check, message, remedy) : .warning(check, message, remedy)
    }

    private func connections(_ connection: AdminConnection) throws(PostgresError) -> CheckResult {
        let needed = configuration.database.allConnectionsMax
        let allowed = try DatabaseCheck.connectionsMax(connection)
        return needed > allowed
            ? .wrong(
                "connections",
                "a server needs \(needed) connections, but the database allows \(allowed)",
                "lower BOOKPLATE_DATABASE_CONNECTIONS or raise max_connections")
            : .ok("connections", "\(allowed) allowed, enough for \(allowed / needed) servers")
    }

    private func replica(_ connection: AdminConnection) throws(PostgresError) -> CheckResult {
        guard let delay = try DatabaseCheck.replicaDelaySeconds(connection) else {
            return .warning(
                "replica", "the database is not a replica",
                "set BOOKPLATE_READ_DATABASE_URL to the address of a standby server")
        }
        return delay > DatabaseCheck.replicaDelayMaxSeconds
            ? .warning(
                "replica", "last transaction replayed \(delay) s ago",
                "check the log of the standby server")
            : .ok("replica", "last transaction replayed \(delay) s ago")
    }

    private func rowSecurity(_ connection: AdminConnection) throws(PostgresError) -> CheckResult {
        let open = try DatabaseCheck.openTables(connection)
        return open.isEmpty
            ? .ok("row security", "forced on every table with users' rows")
            : .wrong(
                "row security", "not forced on \(open.joined(separator: ", "))",
                "ENABLE and FORCE ROW LEVEL SECURITY on them, and find out why it was changed")
    }

    /// Compares the database's objects, and the access of the server's role, with those of this release, if the database has the
    /// schema of this release.
    private func schemaResults(
        _ connection: AdminConnection
    ) throws(PostgresError) -> [CheckResult] {
        let open = try rowSecurity(connection)
        guard try DatabaseCheck.schema(connection).version == schemaVersion,
            let url = configuration.database.adminURL
        else { return [open] }
        let results =
            try ObjectChecks(connection, adminURL: url).results()
            + AccessChecks(connection, adminURL: url).results()
        // Tables that this release does not contain may also have readers' rows.
        return open.state == .wrong
            && results.allSatisfy { $0.check != open.check || $0.state == .ok }
            ? results.filter { $0.check != open.check } + [open] : results
    }

    private func tenants(_ connection: AdminConnection) throws(PostgresError) -> CheckResult {
        let slugs = try TenantRecord.all(connection).map(\.slug)
        return slugs.isEmpty
            ? .wrong(
                "tenants", "there is none, so no user can sign in",
                "run bookplate-admin tenant add")
            : .ok(
                "tenants", slugs.prefix(5).joined(separator: ", ") + (slugs.count > 5 ? ", …" : ""))
    }

    /// Returns nothing if there is no problem.
    private func webhooks(_ connection: AdminConnection) throws(PostgresError) -> [CheckResult] {
        let (disabled, dead) = try WebhookRecord.problems(connection)
        var results: [CheckResult] = []
        if disabled > 0 {
            results.append(
                .warning(
                    "webhooks", "\(disabled) disabled, because the receiver has responded with 410",
                    "run bookplate-admin webhook list, and then webhook enable or webhook remove"))
        }
        if dead > 0 {
            results.append(
                .warning(
                    "webhooks", "\(dead) event\(dead == 1 ? "" : "s") could not be delivered",
                    "run bookplate-admin webhook list, and then webhook deliveries --dead"))
        }
        return results
    }

    /// Returns nothing if there is no dead job.
    private func deadJobs(_ connection: AdminConnection) throws(PostgresError) -> [CheckResult] {
        let dead = try JobRecord.counts(.init(state: .dead), connection)
        guard !dead.isEmpty else { return [] }
        return [
            .warning(
                "jobs",
                "failed for good: " + dead.map { "\($0.count) \($0.kind)" }.joined(separator: ", "),
                "run bookplate-admin jobs list --state dead, correct the cause, and then run jobs retry --dead"
            )
        ]
    }

    private func migrationResults(
        _ connection: AdminConnection
    ) throws(PostgresError) -> [CheckResult] {
        let schema = try DatabaseCheck.schema(connection)
        if schema.isSufficient, schema.version > schemaVersion {
            return [
                .ok(
                    "migrations",
                    "at \(schema.version) of a newer release, which contains what this one needs")
            ]
        }
        do throws(MigrationError) {
            let plan = try Migrator(connection, try migrations.files()).status()
            let pending = plan.pendingFileNames.count
            let problems = plan.problems.map {
                CheckResult.wrong("migrations", "\($0)", "see bookplate-admin migrate verify")
            }
            if !problems.isEmpty { return problems }
            return [
                pending == 0
                    ? .ok(
                        "migrations",
                        "\(plan.entries.count + plan.repeatable.entries.count) applied and unchanged"
                    )
                    : .wrong(
                        "migrations", "\(pending) not applied",
                        "run bookplate-admin migrate up")
            ]
        } catch {
            return [.wrong("migrations", "\(error)", "see bookplate-admin migrate verify")]
        }
    }
}
