import Postgres

extension SchemaObjects {
    /// Returns the differences of the connection's database.
    package func differences(
        _ connection: AdminConnection
    ) throws(PostgresError) -> [Difference] {
        let (database, majorVersion) = try connection.inTransaction(
            commits: false, mapping: { $0 }
        ) { () throws(PostgresError) in
            // Without a `search_path`, PostgreSQL qualifies names like pg_dump does.
            try connection.execute("SET LOCAL search_path = ''")
            let objects = try connection.query(Self.query).decode(Row.self)
            let version = try connection.query(
                "SELECT pg_catalog.current_setting('server_version_num')::int / 10000"
            ).decode(Int32.self).first
            return (SchemaObjects(objects), version)
        }
        return differences(
            of: database, comparesStatements: majorVersion == Self.dumpMajorVersion)
    }

    /// Applies the files of `migrations/functions` again, which define triggers and functions.
    package static func restoreFunctions(
        _ connection: AdminConnection, from files: MigrationFiles
    ) throws(MigrationError) {
        do throws(PostgresError) {
            try connection.execute("DELETE FROM schema_functions")
        } catch {
            throw .database(error)
        }
        _ = try Migrator(connection, files).up()
    }

    /// The version of PostgreSQL that has written the dump.
    private static let dumpMajorVersion: Int32 = 15

    private init(_ rows: [Row]) {
        self.init()
        for row in rows { add(row.kind, row.text, row.definition) }
    }

    private struct Row: RowDecodable {
        let kind: Kind
        let text: String
        let definition: String?

        init?(_ row: inout RowReader) {
            guard let kind = row.text().flatMap(Kind.init), let text = row.text() else {
                return nil
            }
            self.kind = kind
            self.text = text
            definition = row.text()
        }
    }

    /// The objects of the schema `public`. The definition of one without effect is null.
    private static let query = """
        SELECT
            'trigger',
            pg_catalog.format('%I on %s', t.tgname, t.tgrelid::pg_catalog.regclass),
            CASE WHEN t.tgenabled IN ('O', 'A') THEN pg_catalog.pg_get_triggerdef(t.oid) END
        FROM pg_catalog.pg_trigger t
        JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid
        WHERE c.relnamespace = 'public'::pg_catalog.regnamespace AND NOT t.tgisinternal
        UNION ALL
        SELECT
            'index',
            pg_catalog.format('%I on %s', c.relname, i.indrelid::pg_catalog.regclass),
            CASE WHEN i.indisvalid THEN pg_catalog.pg_get_indexdef(i.indexrelid) END
        FROM pg_catalog.pg_index i
        JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
        WHERE c.relnamespace = 'public'::pg_catalog.regnamespace
            -- An index of a constraint is part of it.
            AND NOT EXISTS (
                SELECT
                FROM pg_catalog.pg_constraint k
                WHERE k.conindid = i.indexrelid AND k.contype IN ('p', 'u', 'x')
            )
        UNION ALL
        SELECT
            'constraint',
            pg_catalog.format('%I on %s', k.conname, o.name),
            CASE
                WHEN k.convalidated
                    -- Triggers enforce foreign keys.
                    AND NOT EXISTS (
                        SELECT
                        FROM pg_catalog.pg_trigger t
                        WHERE t.tgconstraint = k.oid AND t.tgenabled NOT IN ('O', 'A')
                    )
                THEN pg_catalog.format(
                    'ALTER %s %s ADD CONSTRAINT %I %s', o.kind, o.name, k.conname,
                    pg_catalog.pg_get_constraintdef(k.oid))
            END
        FROM pg_catalog.pg_constraint k,
        LATERAL (
            SELECT 'TABLE', k.conrelid::pg_catalog.regclass::pg_catalog.text
            WHERE k.conrelid <> 0
            UNION ALL
            SELECT 'DOMAIN', pg_catalog.format_type(k.contypid, NULL)
            WHERE k.contypid <> 0
        ) AS o (kind, name)
        WHERE k.connamespace = 'public'::pg_catalog.regnamespace
            AND k.contype IN ('c', 'f', 'p', 'u', 'x')
        UNION ALL
        SELECT
            'column',
            pg_catalog.format('%I on %s', a.attname, a.attrelid::pg_catalog.regclass),
            pg_catalog.format(
                'ALTER TABLE %s ADD COLUMN %I %s', a.attrelid::pg_catalog.regclass, a.attname,
                pg_catalog.format_type(a.atttypid, a.atttypmod))
                || CASE
                    WHEN a.attgenerated = 's' THEN ' GENERATED ALWAYS AS (' || d.text || ') STORED'
                    ELSE coalesce(' DEFAULT ' || d.text, '')
                END
                || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
                || coalesce(' COLLATE pg_catalog.' || pg_catalog.quote_ident(l.collname), '')
        FROM pg_catalog.pg_attribute a
        JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
        JOIN pg_catalog.pg_type y ON y.oid = a.atttypid
        LEFT JOIN LATERAL (
            SELECT pg_catalog.pg_get_expr(d.adbin, d.adrelid)
            FROM pg_catalog.pg_attrdef d
            WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum
        ) AS d (text) ON true
        LEFT JOIN pg_catalog.pg_collation l
            ON l.oid = a.attcollation AND a.attcollation <> y.typcollation
        WHERE c.relnamespace = 'public'::pg_catalog.regnamespace AND c.relkind = 'r'
            AND a.attnum > 0 AND NOT a.attisdropped
        UNION ALL
        SELECT 'function', pg_catalog.format('public.%I', p.proname), p.prosrc
        FROM pg_catalog.pg_proc p
        WHERE p.pronamespace = 'public'::pg_catalog.regnamespace
            AND NOT EXISTS (
                SELECT
                FROM pg_catalog.pg_depend d
                WHERE d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND d.objid = p.oid
                    AND d.deptype = 'e'
            )
        """
}
