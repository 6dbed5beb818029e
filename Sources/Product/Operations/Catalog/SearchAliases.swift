import Postgres

/// The short names of books and series that searches also understand: `bookplate-admin catalog search-alias`.
package struct SearchAliases {
    package struct Alias: RowDecodable, Equatable {
        package let alias: String
        package let meaning: String

        package init?(_ row: inout RowReader) {
            guard let alias = row.text(), let meaning = row.text() else { return nil }
            self.alias = alias
            self.meaning = meaning
        }
    }

    private let connection: AdminConnection

    package init(_ connection: AdminConnection) { self.connection = connection }

    /// Returns all aliases in alphabetical order.
    package func all() throws(PostgresError) -> [Alias] {
        try connection.query("SELECT alias, meaning FROM search_aliases ORDER BY alias")
            .decode(Alias.self)
    }

    /// Adds an alias, or gives it another meaning.
    ///
    /// - Returns: The alias as it is compared. Nil if the alias does not have one to three words of at most 60 letters together, or
    ///   if the meaning has no letters and digits, or more than 100 characters.
    package func add(_ alias: String, meaning: String) throws(PostgresError) -> Alias? {
        var parameters = Parameters()
        parameters.append(text: alias)
        parameters.append(text: meaning)
        return try connection.query(
            """
            INSERT INTO search_aliases (alias, meaning)
            SELECT a.alias, btrim($2)
            FROM (
                SELECT terms, array_to_string(terms, ' ') AS alias
                FROM search_query_terms($1) terms
            ) a
            WHERE cardinality(a.terms) BETWEEN 1 AND 3 AND char_length(a.alias) <= 60
                AND search_fold($2) <> '' AND char_length(btrim($2)) <= 100
            ON CONFLICT (alias) DO UPDATE
            SET meaning = excluded.meaning
            RETURNING alias, meaning
            """, parameters
        ).decode(Alias.self).first
    }

    /// - Returns: The removed alias. Nil if there is none.
    package func remove(_ alias: String) throws(PostgresError) -> Alias? {
        var parameters = Parameters()
        parameters.append(text: alias)
        return try connection.query(
            """
            DELETE FROM search_aliases
            WHERE alias = array_to_string(search_query_terms($1), ' ')
            RETURNING alias, meaning
            """, parameters
        ).decode(Alias.self).first
    }
}
