extension Migrator {
    /// Checks the bodies of all functions of the current schema, as `CREATE FUNCTION` does.
    ///
    /// This finds functions whose statements do not fit the migrated tables, for example because a column that they use was
    /// dropped. Only the syntax of `plpgsql` functions is checked, because PostgreSQL plans their statements when they run.
    ///
    /// - Throws: `.invalidFunction`.
    func validateFunctions() throws(MigrationError) {
        let functions = try mappingErrors { () throws(PostgresError) in
            try configureSession()
            return try connection.query(
                """
                SELECT
                    p.oid::regprocedure::text,
                    format('SELECT %s(%s)', l.lanvalidator::regproc, p.oid)
                FROM pg_proc p
                JOIN pg_language l ON l.oid = p.prolang
                WHERE p.pronamespace = quote_ident(current_schema())::regnamespace
                    AND l.lanname NOT IN ('internal', 'c')
                    AND l.lanvalidator <> 0
                    AND NOT EXISTS (
                        SELECT
                        FROM pg_depend d
                        WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
                    )
                ORDER BY 1
                """)
        }
        for row in 0..<functions.count {
            guard let signature = functions.text(row, 0), let validation = functions.text(row, 1)
            else { continue }
            do throws(PostgresError) {
                try connection.query(validation)
            } catch {
                throw .invalidFunction(signature, error)
            }
        }
    }
}
