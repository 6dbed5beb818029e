import Postgres
import TestSupport

/// Checks of the database's security. Each is a query that returns the names of the objects that violate it.
enum SecurityCheck: String, CaseIterable {
    case everyTableIsEnabledAndForced
    case everyTableHasAPolicyForTheServer
    case everyPolicyComparesDirectly
    case noPolicyAppliesToPublic
    case userLeadsEveryPrimaryKey
    case userLeadsEveryUniqueIndex
    case foreignKeysBetweenUsersRowsCarryTheUser
    case serverOwnsNothing
    case serverHasNoPowers
    case closedTablesAreInaccessible
    case sharedTablesShowOnlyTheirPublicColumns

    /// Tables on which the server's role has no privileges. It accesses them only through functions.
    static let closed = [
        "audit_chain", "audit_events", "books_to_link", "collected_signals", "leases",
        "logs_to_prune", "persisted_queries", "rate_buckets", "readers_to_collect",
        "reading_recounts", "schema_usage", "source_usage", "usage_clients", "webhook_deliveries",
        "webhook_positions", "webhooks",
    ]
    private static let closedList = list(closed)

    /// Tables with rows of users and rows without a user, and the columns that the server's role can read: neither payloads nor
    /// secrets.
    static let shared = [
        "jobs": [
            "attempts", "attempts_max", "every", "id", "key", "kind", "priority", "run_at", "state",
            "updated_at", "user_id",
        ],
        "oauth_requests": [
            "client_id", "created_at", "expires_at", "grant_id", "id", "is_allowed", "redirect_uri",
            "scopes", "tenant_id", "user_code", "user_id",
        ],
    ]

    private static func list(_ names: [String]) -> String {
        names.map { "'\($0)'" }.joined(separator: ", ")
    }

    /// The tables whose rows belong to users: `users`, and those with a column `user_id`.
    static let owned = """
        SELECT c.oid, c.relname::text AS name, c.relrowsecurity AS enabled, c.relforcerowsecurity AS forced
        FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
        AND (c.relname = 'users' OR EXISTS (SELECT FROM pg_attribute a
          WHERE a.attrelid = c.oid AND a.attname = 'user_id' AND NOT a.attisdropped))
        AND c.relname NOT IN (\(closedList), \(list(shared.keys.sorted())))
        """

    var sql: String {
        switch self {
        case .everyTableIsEnabledAndForced:
            "SELECT name FROM (\(Self.owned)) t WHERE NOT enabled OR NOT forced"
        case .everyTableHasAPolicyForTheServer:
            """
            SELECT name FROM (\(Self.owned)) t WHERE NOT EXISTS (SELECT FROM pg_policy p
            WHERE p.polrelid = t.oid AND p.polpermissive AND p.polcmd = '*'
            AND p.polroles = ARRAY['bookplate_app'::regrole::oid]
            AND pg_get_expr(p.polqual, p.polrelid) ~ 'app_user_id'
            AND pg_get_expr(p.polwithcheck, p.polrelid) ~ 'app_user_id')
            """
        case .everyPolicyComparesDirectly:
            // A subquery adds an InitPlan to every statement that reads the table.
            """
            SELECT tablename::text FROM pg_policies WHERE policyname = 'owner_only' AND tablename <> 'users'
            AND (qual ~ 'SELECT' OR with_check ~ 'SELECT')
            """
        case .noPolicyAppliesToPublic:
            // Policies are combined with OR, so a policy for PUBLIC would bypass the others.
            "SELECT polname::text FROM pg_policy WHERE 0 = ANY(polroles)"
        case .userLeadsEveryPrimaryKey:
            """
            SELECT name FROM (\(Self.owned)) t WHERE name <> 'users' AND NOT EXISTS (
            SELECT FROM pg_constraint k JOIN pg_attribute a
            ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
            WHERE k.conrelid = t.oid AND k.contype = 'p' AND a.attname = 'user_id')
            """
        case .userLeadsEveryUniqueIndex:
            // Otherwise a unique violation would reveal that another user's row exists. A row of `identities` is inserted only
            // for the owner of the identity.
            """
            SELECT i.indexrelid::regclass::text FROM (\(Self.owned)) t
            JOIN pg_index i ON i.indrelid = t.oid AND i.indisunique
            LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = i.indkey[0]
            WHERE a.attname IS DISTINCT FROM 'user_id' AND t.name NOT IN ('users', 'identities')
            """
        case .foreignKeysBetweenUsersRowsCarryTheUser:
            """
            SELECT k.conname::text FROM pg_constraint k
            JOIN (\(Self.owned)) child ON child.oid = k.conrelid
            JOIN (\(Self.owned)) parent ON parent.oid = k.confrelid
            WHERE k.contype = 'f' AND NOT EXISTS (
              SELECT FROM unnest(k.conkey, k.confkey) AS pair (c, p)
              JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = pair.c AND a.attname = 'user_id'
              JOIN pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = pair.p
              AND b.attname = CASE WHEN parent.name = 'users' THEN 'id' ELSE 'user_id' END)
            """
        case .serverOwnsNothing:
            """
            SELECT relname::text FROM pg_class WHERE relowner = 'bookplate_app'::regrole
            UNION ALL SELECT proname::text FROM pg_proc WHERE proowner = 'bookplate_app'::regrole
            UNION ALL SELECT nspname::text FROM pg_namespace WHERE nspowner = 'bookplate_app'::regrole
            """
        case .serverHasNoPowers:
            """
            SELECT rolname::text FROM pg_roles WHERE rolname = 'bookplate_app'
            AND (rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb OR rolreplication)
            UNION ALL
            SELECT roleid::regrole::text FROM pg_auth_members WHERE member = 'bookplate_app'::regrole
            """
        case .sharedTablesShowOnlyTheirPublicColumns:
            Self.shared.sorted { $0.key < $1.key }.map { table, columns in
                """
                SELECT relname::text FROM pg_class
                WHERE relname = '\(table)' AND NOT (relrowsecurity AND relforcerowsecurity)
                UNION ALL
                SELECT attrelid::regclass || '.' || attname FROM pg_attribute
                WHERE attrelid = '\(table)'::regclass AND attnum > 0 AND NOT attisdropped
                AND has_column_privilege('bookplate_app', attrelid, attnum, 'SELECT') <> (attname IN (\(Self.list(columns))))
                UNION ALL
                SELECT polname::text FROM pg_policy
                WHERE polrelid = '\(table)'::regclass AND polname <> 'administration' AND polpermissive
                AND (pg_get_expr(polqual, polrelid) !~ 'app_user_id' OR pg_get_expr(polwithcheck, polrelid) !~ 'app_user_id')
                """
            }.joined(separator: "\nUNION ALL\n")
        case .closedTablesAreInaccessible:
            """
            SELECT relname::text FROM pg_class WHERE relname IN (\(Self.closedList)) AND relkind IN ('r', 'p')
            AND (NOT relrowsecurity OR NOT relforcerowsecurity
            OR has_table_privilege('bookplate_app', oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
            OR has_any_column_privilege('bookplate_app', oid, 'SELECT, INSERT, UPDATE, REFERENCES')
            OR EXISTS (SELECT FROM pg_policy WHERE polrelid = pg_class.oid AND polname <> 'administration'))
            UNION ALL
            SELECT p.oid::regprocedure::text FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace
            AND p.prosecdef AND (has_function_privilege('public', p.oid, 'EXECUTE')
            OR NOT coalesce(p.proconfig::text LIKE '%search_path=%', false))
            """
        }
    }

    /// Returns the names of the objects that violate the check.
    func violations(_ connection: AdminConnection) throws -> [String] {
        try connection.texts(sql)
    }
}

extension AdminConnection {
    /// Returns the first column of a query.
    func texts(_ sql: String) throws -> [String] {
        let rows = try query(sql)
        return (0..<rows.count).map { rows.text($0, 0) ?? "" }
    }

    /// Whether the server's role cannot write to the table.
    func isReadOnly(_ table: String) throws -> Bool {
        try query("SELECT NOT has_table_privilege('bookplate_app', '\(table)', 'INSERT, UPDATE')")
            .bool(0, 0) == true
    }

    /// Runs the work in a transaction that is rolled back.
    func undoing<Value>(_ work: () throws -> Value) throws -> Value {
        try execute("BEGIN")
        defer { try? execute("ROLLBACK") }
        return try work()
    }

    /// Executes a statement and rolls it back.
    ///
    /// - Returns: The SQLSTATE with which it fails; nil if it succeeds.
    func sqlState(of sql: String) throws -> String? {
        try execute("SAVEPOINT attempt")
        defer { try? execute("ROLLBACK TO SAVEPOINT attempt") }
        do throws(PostgresError) {
            try execute(sql)
            return nil
        } catch {
            guard case .server(let server) = error else { throw error }
            return server.sqlState.rawValue
        }
    }

    /// Returns the ways in which the server's role, acting for `user`, can access rows of other users or cannot access the
    /// user's own rows. Must be called as a superuser, in a transaction.
    func leaks(user: String, otherUser: String) throws -> [String] {
        let tables = try texts("SELECT name FROM (\(SecurityCheck.owned)) t")
        try execute(
            """
            SELECT set_config('app.user_id', '\(user)', true),
              set_config('app.tenant_id', (SELECT tenant_id::text FROM users WHERE id = '\(user)'), true);
            SET LOCAL ROLE bookplate_app
            """)
        var leaks: [String] = []
        for table in tables {
            let column = table == "users" ? "id" : "user_id"
            let rows = try query(
                """
                SELECT count(*) FILTER (WHERE \(column) = '\(user)'),
                  count(*) FILTER (WHERE \(column) <> '\(user)') FROM \(table)
                """)
            if rows.int64(0, 0) == 0 {
                leaks.append("\(table): the user's own rows are not visible")
            }
            if rows.int64(0, 1) != 0 { leaks.append("\(table): rows of other users are visible") }
            if try sqlState(
                of:
                    "UPDATE \(table) SET \(column) = '\(otherUser)' WHERE \(column) = '\(user)'")
                != "42501"
            {
                leaks.append("\(table): a row can be moved to another user")
            }
            // Generated columns cannot be assigned.
            let columns = try texts(
                """
                SELECT quote_ident(attname) FROM pg_attribute WHERE attrelid = '\(table)'::regclass
                AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum
                """)
            let insertion = """
                INSERT INTO \(table) (\(columns.joined(separator: ", ")))
                SELECT \(columns.map { "(r).\($0)" }.joined(separator: ", "))
                FROM (SELECT jsonb_populate_record(NULL::\(table),
                  to_jsonb(t) || '{"\(column)": "\(otherUser)"}') r
                FROM \(table) t WHERE \(column) = '\(user)') p
                """
            if try sqlState(of: insertion) != "42501" {
                leaks.append("\(table): a row can be inserted for another user")
            }
        }
        // Without a user, no rows may be visible.
        try execute(
            "SELECT set_config('app.user_id', '', true), set_config('app.tenant_id', '', true)")
        for table in tables where try query("SELECT count(*) FROM \(table)").int64(0, 0) != 0 {
            leaks.append("\(table): rows are visible without a user")
        }
        return leaks
    }

    /// Returns the ways in which the server's role, acting for `user`, can access rows of other users in the tables
    /// `SecurityCheck.shared`. Must be called as a superuser, in a transaction.
    func sharedLeaks(user: String, otherUser: String) throws -> [String] {
        // A job and a request of each user and of none. The last request is one of the other user's tenant.
        try execute(
            """
            INSERT INTO jobs (user_id, kind, payload, attempts_max)
            SELECT id, 'a.b', '{}', 1 FROM unnest('{\(user), \(otherUser), NULL}'::uuid[]) AS id;
            INSERT INTO oauth_clients (id, tenant_id, name, redirect_uris, scopes, allows_device)
            SELECT id, tenant_id, 'App', '{}', '{FEED}', true FROM users WHERE id IN ('\(user)', '\(otherUser)');
            INSERT INTO oauth_requests (
              id, tenant_id, client_id, user_code, scopes, device_hash, expires_at, user_id, is_allowed)
            SELECT gen_random_uuid(), c.tenant_id, c.id, r.code, '{FEED}', sha256(convert_to(r.code, 'UTF8')),
              now() + interval '1 hour', r.user_id, CASE WHEN r.user_id IS NOT NULL THEN true END
            FROM (VALUES
              ('AAAAAAAA', '\(user)'::uuid, '\(user)'::uuid), ('BBBBBBBB', '\(user)', '\(otherUser)'),
              ('CCCCCCCC', '\(user)', NULL), ('DDDDDDDD', '\(otherUser)', NULL)
            ) r (code, client_id, user_id)
            JOIN oauth_clients c ON c.id = r.client_id;
            SELECT set_config('app.user_id', '\(user)', true),
              set_config('app.tenant_id', (SELECT tenant_id::text FROM users WHERE id = '\(user)'), true);
            SET LOCAL ROLE bookplate_app
            """)
        var leaks: [String] = []
        for (table, condition, gift) in [
            (
                "jobs", "kind = 'a.b'",
                "INSERT INTO jobs (user_id, kind, payload, attempts_max) VALUES ('\(otherUser)', 'a.b', '{}', 1)"
            ),
            (
                "oauth_requests", "user_code IN ('AAAAAAAA', 'BBBBBBBB', 'CCCCCCCC', 'DDDDDDDD')",
                "UPDATE oauth_requests SET user_id = '\(otherUser)', is_allowed = true"
            ),
        ] {
            let visible = try texts(
                "SELECT coalesce(user_id::text, 'none') FROM \(table) WHERE \(condition) ORDER BY user_id"
            )
            if visible != [user, "none"] {
                leaks.append("\(table): the rows of \(visible) are visible")
            }
            if try sqlState(of: gift) != "42501" {
                leaks.append("\(table): a row can be given to another user")
            }
        }
        // Jobs without a key name what they delete or revoke.
        if try query("UPDATE jobs SET run_at = run_at WHERE kind = 'a.b' RETURNING id").count != 0 {
            leaks.append("jobs: a job without a key can be changed")
        }
        try execute(
            "SELECT set_config('app.user_id', '', true), set_config('app.tenant_id', '', true)")
        for table in SecurityCheck.shared.keys.sorted()
        where try query("SELECT count(user_id) FROM \(table)").int64(0, 0) != 0 {
            leaks.append("\(table): rows of users are visible without a user")
        }
        return leaks
    }

    /// Inserts a row into each table of users' rows in which the user has none. The values depend only on the types of the
    /// columns, so tables that are added later are included. Must be called as a superuser.
    func fillEmptyTables(of user: String) throws {
        // This disables foreign keys, because the referenced rows do not exist.
        try execute("BEGIN; SET LOCAL session_replication_role = replica")
        for table in try texts("SELECT name FROM (\(SecurityCheck.owned)) t WHERE name <> 'users'")
        {
            let isEmpty = try query("SELECT FROM \(table) WHERE user_id = '\(user)'").count == 0
            guard isEmpty else { continue }
            let columns = try query(
                """
                SELECT quote_ident(a.attname), CASE
                  WHEN a.attname = 'user_id' THEN quote_literal('\(user)')
                  WHEN t.typtype = 'e' THEN quote_literal((SELECT enumlabel FROM pg_enum
                    WHERE enumtypid = t.oid ORDER BY enumsortorder LIMIT 1))
                  WHEN t.typcategory = 'N' THEN '1'
                  WHEN t.typcategory = 'D' THEN 'now()'
                  WHEN t.typcategory = 'B' THEN 'false'
                  WHEN t.typcategory = 'A' OR t.typname = 'jsonb' THEN quote_literal('{}')
                  WHEN t.typname = 'uuid' THEN 'gen_random_uuid()'
                  WHEN t.typname = 'bytea' THEN 'sha256(''x'')'
                  ELSE quote_literal('x') END || '::' || format_type(a.atttypid, a.atttypmod)
                FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
                WHERE a.attrelid = '\(table)'::regclass AND a.attnum > 0 AND NOT a.attisdropped
                AND a.attnotnull AND a.attgenerated = '' AND a.attidentity = ''
                AND (a.attname = 'user_id' OR NOT a.atthasdef)
                """)
            let names = (0..<columns.count).map { columns.text($0, 0) ?? "" }
            let values = (0..<columns.count).map { columns.text($0, 1) ?? "" }
            try execute(
                "INSERT INTO \(table) (\(names.joined(separator: ", "))) "
                    + "VALUES (\(values.joined(separator: ", ")))")
        }
        try execute("COMMIT")
    }
}
