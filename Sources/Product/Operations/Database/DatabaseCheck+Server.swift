import Glibc
import Postgres
import Requests

/// Checks of the database server.
extension DatabaseCheck {
    /// The oldest supported version of PostgreSQL, as in `server_version_num`.
    private static let versionMin: Int32 = 150_000
    /// The largest accepted difference between the clocks of this machine and the database.
    package static let clockDifferenceMaxMilliseconds: Int64 = 2000
    /// With a larger difference, tokens of other machines are not valid here.
    package static let clockDifferenceUsableMilliseconds: Int64 = 60_000
    /// The largest accepted age of the last transaction that a replica has replayed.
    package static let replicaDelayMaxSeconds: Int64 = 30

    /// The version of the server and the encoding of the database.
    package struct Version: RowDecodable {
        /// Such as `15.8`.
        package let name: String
        package let encoding: String
        private let number: Int32

        package var isTooOld: Bool { number < versionMin }
        package var isUTF8: Bool { encoding == "UTF8" }

        package init?(_ row: inout RowReader) {
            name = row.text() ?? "?"
            number = row.int32() ?? 0
            encoding = row.text() ?? "?"
        }
    }

    /// Returns the version of the server and the encoding of the database.
    package static func version(_ connection: AdminConnection) throws(PostgresError) -> Version {
        let versions = try connection.query(
            """
            SELECT
                current_setting('server_version'),
                current_setting('server_version_num')::int,
                current_setting('server_encoding')
            """
        ).decode(Version.self)
        guard let version = versions.first else { throw .unexpectedResult("the server's version") }
        return version
    }

    /// Returns the name of the connection's role.
    package static func roleName(_ connection: AdminConnection) throws(PostgresError) -> String {
        try connection.query("SELECT current_user::text").decode(String.self).first ?? "?"
    }

    /// Returns the difference between the clocks of this machine and the database in milliseconds.
    package static func clockDifferenceMilliseconds(
        _ connection: AdminConnection
    ) throws(PostgresError) -> Int64 {
        func now() -> Int64 {
            var time = timespec()
            clock_gettime(CLOCK_REALTIME, &time)
            return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
        }
        let before = now()
        let times = try connection.query(
            "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::int8"
        ).decode(Int64.self)
        return abs((times.first ?? 0) - (before + now()) / 2)
    }

    /// Returns the number of connections that the server allows to roles that are not superusers.
    package static func connectionsMax(_ connection: AdminConnection) throws(PostgresError) -> Int {
        let counts = try connection.query(
            """
            SELECT
                current_setting('max_connections')::int
                    - current_setting('superuser_reserved_connections')::int
            """
        ).decode(Int32.self)
        return Int(counts.first ?? 0)
    }

    /// Returns how many seconds ago a replica's last replayed transaction was committed; nil if the server is not a
    /// replica.
    package static func replicaDelaySeconds(
        _ connection: AdminConnection
    ) throws(PostgresError) -> Int64? {
        try connection.query(
            """
            SELECT
                CASE
                    WHEN pg_is_in_recovery()
                    THEN coalesce(
                        extract(epoch FROM now() - pg_last_xact_replay_timestamp()), 0
                    )::int8
                END
            """
        ).decode(Int64.self).first
    }

    /// A setting with a value that harms, and what follows from it.
    package struct HarmfulSetting: RowDecodable, Sendable {
        package let name: String
        package let value: String
        package let consequence: String
        package let preventsWrites: Bool

        package init?(_ row: inout RowReader) {
            guard let name = row.text(), let value = row.text(), let consequence = row.text()
            else { return nil }
            self.name = name
            self.value = value
            self.consequence = consequence
            preventsWrites = row.bool() ?? false
        }
    }

    /// Returns the settings of the connection's session that prevent writes, or with which confirmed changes can be lost.
    ///
    /// `statement_timeout` is not among them: the server and the long commands set it themselves.
    package static func harmfulSettings(
        _ connection: AdminConnection
    ) throws(PostgresError) -> [HarmfulSetting] {
        try connection.query(
            """
            SELECT k.name, current_setting(k.name), k.consequence, k.prevents_writes
            FROM (
                VALUES
                    ('default_transaction_read_only', 'off', 'every write is refused', true),
                    ('session_replication_role', 'origin',
                        'triggers do not fire, so devices do not get changes', true),
                    ('synchronous_commit', 'on', 'a crash can lose confirmed changes', false),
                    ('fsync', 'on', 'a crash can destroy the database', false),
                    ('full_page_writes', 'on', 'a crash can destroy the database', false),
                    ('autovacuum', 'on', 'tables grow, and queries become slow', false)
            ) AS k (name, expected, consequence, prevents_writes)
            WHERE current_setting(k.name) <> k.expected
                -- The other values of this setting are as safe, or safer with a synchronous standby.
                AND (k.name <> 'synchronous_commit' OR current_setting(k.name) = 'off')
            """
        ).decode()
    }
}
