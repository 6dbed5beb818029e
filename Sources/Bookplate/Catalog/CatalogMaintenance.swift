import Postgres

/// Updates the data that is derived from the catalog: genres, and the words of the search.
package enum CatalogMaintenance {
    /// Updates the derived data in one transaction, and then the planner's statistics.
    ///
    /// - Parameter isDryRun: Whether to roll the transaction back and leave the statistics unchanged.
    package static func refresh(
        isDryRun: Bool, _ connection: AdminConnection
    ) throws(PostgresError) {
        try connection.inTransaction(commits: !isDryRun, mapping: { $0 }) {
            () throws(PostgresError) in
            try connection.execute("SELECT lock_catalog()")
            try connection.execute("SELECT set_config('app.bulk', 'on', true)")
            try connection.execute("SELECT reassign_genres()")
            try updateDerivedData(connection)
        }
        if !isDryRun { try analyze(connection) }
    }

    /// Updates the derived data and deletes expired results of external sources, in the caller's transaction.
    static func updateDerivedData(_ connection: AdminConnection) throws(PostgresError) {
        try connection.execute("SELECT refresh_genres(true)")
        try connection.execute("SELECT refresh_search_words()")
        try connection.execute(
            """
            DELETE FROM source_misses WHERE expires_at < now();
            DELETE FROM source_searches WHERE expires_at < now()
            """)
    }

    /// Updates the planner's statistics of the catalog's tables.
    static func analyze(_ connection: AdminConnection) throws(PostgresError) {
        try connection.execute(
            "ANALYZE editions, edition_sources, genres, edition_genres, search_words")
    }
}
