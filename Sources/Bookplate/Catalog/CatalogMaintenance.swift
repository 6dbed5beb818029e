import Postgres

/// Updates the data that is derived from the catalog: the feed's order and the words of the search.
package enum CatalogMaintenance {
    /// Updates the derived data and deletes expired results of external sources. Call it in a transaction.
    package static func refresh(_ connection: AdminConnection) throws(PostgresError) {
        try connection.execute("SELECT refresh_feed_order()")
        try connection.execute("SELECT refresh_search_words()")
        try connection.execute(
            """
            DELETE FROM source_misses WHERE expires_at < now();
            DELETE FROM source_searches WHERE expires_at < now()
            """)
    }

    /// Updates the planner's statistics of the catalog's tables.
    package static func analyze(_ connection: AdminConnection) throws(PostgresError) {
        try connection.execute(
            "ANALYZE editions, edition_sources, genres, feed_order, search_words")
    }
}
