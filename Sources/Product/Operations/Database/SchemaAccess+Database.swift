import Postgres

extension SchemaAccess {
    /// Returns the statements that describe a database.
    ///
    /// Without a `search_path`, PostgreSQL qualifies names like pg_dump does.
    static func statements(_ connection: AdminConnection) throws(PostgresError) -> Set<String> {
        let statements = try connection.inTransaction(commits: false, mapping: { $0 }) {
            () throws(PostgresError) in
            try connection.execute("SET LOCAL search_path = ''")
            let publicPolicies = policies(of: "c.relnamespace = 'public'::pg_catalog.regnamespace")
            return try connection.query(
                "\(privileges) UNION ALL \(publicPolicies) UNION ALL \(tables)"
            ).decode(String.self)
        }
        return Set(statements)
    }

    /// Returns a policy as this database prints it; nil if it cannot be created here.
    ///
    /// Versions of PostgreSQL print the same expression differently. The policy is created on a temporary table with the same
    /// columns, in a transaction that is not committed, so this neither locks nor changes a table.
    static func printed(_ statement: String, by connection: AdminConnection) -> String? {
        guard let table = table(ofPolicy: statement) else { return nil }
        let onCopy = statement.replacing(
            " ON \(table) ", with: " ON pg_temp.printed_policy ", maxReplacements: 1
        ).replacing(" TO bookplate_owner ", with: " TO CURRENT_USER ", maxReplacements: 1)
        let printed = try? connection.inTransaction(commits: false, mapping: { $0 }) {
            () throws(PostgresError) in
            try connection.execute(
                """
                SET LOCAL search_path = '';
                CREATE TEMPORARY TABLE printed_policy (LIKE \(table));
                \(onCopy)
                """)
            return try connection.query(
                policies(of: "c.oid = 'pg_temp.printed_policy'::pg_catalog.regclass")
            ).decode(String.self).first
        }
        guard let printed, let name = Self.table(ofPolicy: printed) else { return nil }
        return printed.replacing(" ON \(name) ", with: " ON \(table) ", maxReplacements: 1)
    }

    /// The privileges of the server's role and of all roles.
    private static let privileges = """
        SELECT
            pg_catalog.format(
                'GRANT %s ON %s %s TO %s', privilege, kind, object, coalesce(r.rolname, 'PUBLIC'))
        FROM (
            SELECT
                CASE c.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END,
                c.oid::pg_catalog.regclass::pg_catalog.text,
                a.privilege_type,
                a.grantee
            FROM pg_catalog.pg_class c, pg_catalog.aclexplode(c.relacl) a
            WHERE c.relnamespace = 'public'::pg_catalog.regnamespace
            UNION ALL
            SELECT
                'TABLE',
                c.oid::pg_catalog.regclass::pg_catalog.text,
                a.privilege_type || '(' || pg_catalog.quote_ident(t.attname) || ')',
                a.grantee
            FROM pg_catalog.pg_class c
            JOIN pg_catalog.pg_attribute t ON t.attrelid = c.oid,
            pg_catalog.aclexplode(t.attacl) a
            WHERE c.relnamespace = 'public'::pg_catalog.regnamespace
            UNION ALL
            SELECT
                'FUNCTION',
                pg_catalog.format(
                    'public.%I(%s)', p.proname,
                    pg_catalog.pg_get_function_identity_arguments(p.oid)),
                a.privilege_type,
                a.grantee
            FROM pg_catalog.pg_proc p,
            pg_catalog.aclexplode(
                coalesce(p.proacl, pg_catalog.acldefault('f', p.proowner))) a
            WHERE p.pronamespace = 'public'::pg_catalog.regnamespace
            UNION ALL
            SELECT 'SCHEMA', 'public', a.privilege_type, a.grantee
            FROM pg_catalog.pg_namespace n, pg_catalog.aclexplode(n.nspacl) a
            WHERE n.nspname = 'public'
        ) AS g (kind, object, privilege, grantee)
        LEFT JOIN pg_catalog.pg_roles r ON r.oid = grantee
        WHERE grantee = 0 OR r.rolname = 'bookplate_app'
        """

    /// The policies of the tables for which a condition holds. The owner of a table is called `bookplate_owner`, whatever its name is.
    private static func policies(of condition: String) -> String {
        """
        SELECT
            pg_catalog.format(
                'CREATE POLICY %I ON %s', p.polname, p.polrelid::pg_catalog.regclass)
                || CASE WHEN p.polpermissive THEN '' ELSE ' AS RESTRICTIVE' END
                || CASE p.polcmd
                    WHEN 'r' THEN ' FOR SELECT'
                    WHEN 'a' THEN ' FOR INSERT'
                    WHEN 'w' THEN ' FOR UPDATE'
                    WHEN 'd' THEN ' FOR DELETE'
                    ELSE ''
                END
                || coalesce(
                    ' TO ' || (
                        SELECT
                            pg_catalog.string_agg(
                                CASE r.oid
                                    WHEN c.relowner THEN 'bookplate_owner'
                                    ELSE pg_catalog.quote_ident(r.rolname)
                                END, ', ' ORDER BY r.rolname)
                        FROM pg_catalog.pg_roles r
                        WHERE r.oid = ANY (p.polroles)
                    ), '')
                || coalesce(
                    ' USING (' || pg_catalog.pg_get_expr(p.polqual, p.polrelid) || ')', '')
                || coalesce(
                    ' WITH CHECK (' || pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid) || ')',
                    '')
        FROM pg_catalog.pg_policy p
        JOIN pg_catalog.pg_class c ON c.oid = p.polrelid
        WHERE \(condition)
        """
    }

    /// The tables on which row-level security is enabled or forced.
    private static let tables = """
        SELECT
            pg_catalog.format(
                'ALTER TABLE %s %s ROW LEVEL SECURITY', c.oid::pg_catalog.regclass, s.word)
        FROM pg_catalog.pg_class c,
        LATERAL (
            VALUES ('ENABLE', c.relrowsecurity), ('FORCE', c.relforcerowsecurity)
        ) AS s (word, is_on)
        WHERE c.relnamespace = 'public'::pg_catalog.regnamespace AND s.is_on
        """
}
