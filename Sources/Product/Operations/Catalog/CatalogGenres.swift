import Postgres

/// The canonical genres and their aliases: `bookplate-admin catalog genres` and `add-alias`.
package struct CatalogGenres {
    package struct Count: RowDecodable {
        package let name: String
        package let count: Int

        package init?(_ row: inout RowReader) {
            guard let name = row.text(), let count = row.int64() else { return nil }
            self.name = name
            self.count = Int(count)
        }
    }

    private static let unknownNamesMax = 200

    private let connection: AdminConnection

    package init(_ connection: AdminConnection) { self.connection = connection }

    /// Returns all genres with the number of their editions, those with the most editions first.
    package func counts() throws(PostgresError) -> [Count] {
        try connection.query(
            """
            SELECT g.name, count(e.genre)
            FROM genres g
            LEFT JOIN (
                SELECT unnest(genres) AS genre
                FROM editions
            ) e ON e.genre = g.name
            GROUP BY g.id
            ORDER BY 2 DESC, g.id
            """
        ).decode(Count.self)
    }

    /// Returns the most frequent names in sources that have no genre, with the number of their editions.
    package func unknownNames() throws(PostgresError) -> [Count] {
        try connection.query(
            """
            SELECT name, editions
            FROM (
                SELECT subject AS name, count(*) AS editions
                FROM editions
                CROSS JOIN LATERAL unnest(subjects) AS subject
                GROUP BY 1
            ) named
            WHERE genre_ids(ARRAY[name]) = '{}'
            ORDER BY editions DESC, name
            LIMIT \(Self.unknownNamesMax)
            """
        ).decode(Count.self)
    }

    /// Adds an alias of a genre, or moves it from another genre.
    ///
    /// - Returns: The name as it is compared. Nil if there is no such genre, or if the name contains no letters or digits.
    package func addAlias(
        _ name: String, of genre: String
    ) throws(PostgresError) -> String? {
        var parameters = Parameters()
        parameters.append(text: name)
        parameters.append(text: genre)
        return try connection.query(
            """
            INSERT INTO genre_aliases (alias, genre_id)
            SELECT search_fold($1), id
            FROM genres
            WHERE name = $2 AND search_fold($1) <> ''
            ON CONFLICT (alias) DO UPDATE
            SET genre_id = excluded.genre_id
            RETURNING alias
            """, parameters
        ).decode(String.self).first
    }
}
