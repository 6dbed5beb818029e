import Postgres

/// Updates the data that is derived from the catalog: genres, and the words of the search.
package enum CatalogMaintenance {
    /// Updates the derived data in one transaction, and then does the work of `finish`.
    ///
    /// - Parameter isDryRun: Whether to roll the transaction back, and to do nothing else.
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
        if !isDryRun { try finish(connection) }
    }

    /// Updates the derived data, in the caller's transaction.
    static func updateDerivedData(_ connection: AdminConnection) throws(PostgresError) {
        try connection.execute("SELECT refresh_genres(true)")
        try connection.execute("SELECT refresh_search_words()")
    }

    /// Deletes expired results of external sources, and updates the planner's statistics of the catalog's tables.
    ///
    /// The transaction that changes the catalog does not delete the results: a request that records a new result would wait for its
    /// end, and could deadlock with it.
    static func finish(_ connection: AdminConnection) throws(PostgresError) {
        try connection.execute(
            """
            DELETE FROM source_misses
            WHERE (isbn13, source) IN (
                SELECT isbn13, source
                FROM source_misses
                WHERE expires_at < now()
                FOR UPDATE SKIP LOCKED
            )
            """)
        try connection.execute(
            """
            DELETE FROM source_searches
            WHERE query IN (
                SELECT query
                FROM source_searches
                WHERE expires_at < now()
                FOR UPDATE SKIP LOCKED
            )
            """)
        try connection.execute(
            "ANALYZE editions, edition_sources, genres, edition_genres, search_words")
    }
}
