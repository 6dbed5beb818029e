/// Removal of invalid indexes, which a failed `CREATE INDEX CONCURRENTLY` leaves behind.
///
/// An invalid index slows down every write, serves no query, and makes `IF NOT EXISTS` skip the index
/// that the migration creates.
extension AdminConnection {
    /// Drops the invalid indexes of the current schema whose names occur in a migration's SQL.
    func dropInvalidIndexes(namedIn sql: String) throws(PostgresError) {
        let rows = try query(
            """
            SELECT c.relname, format('%I.%I', n.nspname, c.relname)
            FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
            JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE NOT i.indisvalid AND c.relkind = 'i' AND n.nspname = current_schema()
            """)
        let words = Set(sql.split { !($0.isLetter || $0.isNumber || $0 == "_") })
        for row in 0..<rows.count {
            guard let name = rows.text(row, 0), let qualified = rows.text(row, 1),
                words.contains(Substring(name))
            else { continue }
            try execute("DROP INDEX CONCURRENTLY \(qualified)")
        }
    }
}
