import Postgres

/// What follows from the catalogue and is kept beside it: the feed's order, the words of the search.
package enum CatalogUpkeep {
    /// Brings it up to date. To be run in a transaction.
    package static func refresh(_ connection: AdminConnection) throws(PostgresError) {
        try connection.execute("SELECT refresh_feed_order()")
        try connection.execute("SELECT refresh_search_words()")
        try connection.execute(
            """
            DELETE FROM source_misses WHERE expires_at < now();
            DELETE FROM source_searches WHERE expires_at < now()
            """)
    }

    /// Tells the planner what the tables hold now.
    package static func analyze(_ connection: AdminConnection) throws(PostgresError) {
        try connection.execute(
            "ANALYZE editions, edition_sources, genres, feed_order, search_words")
    }

    /// What the catalogue holds.
    package struct Statistics: Sendable {
        /// Names and numbers, in the order in which they are told.
        package let counts: [(name: String, count: Int)]
    }

    package static func statistics(
        _ connection: AdminConnection
    ) throws(PostgresError) -> Statistics {
        let rows = try connection.query(
            """
            SELECT count(*) AS editions, count(isbn13) AS "withIsbn", \
            count(*) FILTER (WHERE authors <> '{}') AS "withAuthor", \
            count(*) FILTER (WHERE genres <> '{}') AS "withGenre", \
            count(description) AS "withDescription", count(page_count) AS "withPageCount", \
            count(*) FILTER (WHERE cover_links <> '{}') AS "withCoverLink", \
            (SELECT count(*) FROM genres WHERE readers > 0) AS genres, \
            (SELECT count(*) FROM edition_sources) AS "outsideIds", \
            (SELECT count(*) FROM search_words) AS "searchWords" FROM editions
            """)
        return Statistics(
            counts: (0..<10).map { column in
                (rows.name(ofColumn: column) ?? "", Int(rows.int64(0, column) ?? 0))
            })
    }
}
