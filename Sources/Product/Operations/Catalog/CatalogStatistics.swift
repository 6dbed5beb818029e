import Postgres

/// The numbers of rows in the catalog: `bookplate-admin catalog stats`.
package struct CatalogStatistics: Sendable {
    /// Names and numbers, in the order in which the command prints them.
    package let counts: [(name: String, count: Int)]

    package init(_ connection: AdminConnection) throws(PostgresError) {
        let rows = try connection.query(
            """
            SELECT
                count(*) AS editions,
                count(isbn13) AS "withIsbn",
                count(*) FILTER (WHERE authors <> '{}') AS "withAuthor",
                count(*) FILTER (WHERE genres <> '{}') AS "withGenre",
                count(description) AS "withDescription",
                count(page_count) AS "withPageCount",
                count(*) FILTER (WHERE cover_links <> '{}') AS "withCoverLink",
                (SELECT count(*) FROM genres WHERE editions > 0) AS genres,
                (SELECT count(*) FROM edition_sources) AS "outsideIds",
                (SELECT count(*) FROM search_words) AS "searchWords"
            FROM editions
            """)
        counts = (0..<rows.columnCount).map { column in
            (rows.name(ofColumn: column) ?? "", Int(rows.int64(0, column) ?? 0))
        }
    }
}
