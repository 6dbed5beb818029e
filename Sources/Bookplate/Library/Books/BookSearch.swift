/// A search for books in a library.
struct BookSearch {
    /// The 13 digits of an ISBN, or the words as typed.
    let text: String
    private let isISBN: Bool

    /// Returns nil if there is no search.
    ///
    /// - Throws: `.badUserInput` if the text is blank or too long.
    init?(_ search: String?) throws(BookplateError) {
        guard let search else { return nil }
        if let isbn = ISBN(search) {
            (text, isISBN) = (isbn.description, true)
        } else {
            text = try TextInput.line(
                search, field: "search", charactersMax: CatalogSearch.queryCharactersMax)
            isISBN = false
        }
    }

    /// Returns the SQL condition under which `books b`, of the reader `$1`, matches the text in `parameter`.
    ///
    /// The catalog's record of the book is searched too, with its subtitle, series, and other authors. If no book in
    /// the library has all words as typed, misspelled words match as well. A text without letters and digits, such as
    /// "%", folds to an empty text; it is then searched in the titles as it is. Folded words contain no LIKE wildcards.
    ///
    /// Relies on this plan: the subquery runs once and reads each book of the reader, and its record, once.
    func condition(_ parameter: String) -> String {
        if isISBN { return "b.isbn13 = \(parameter)" }
        let folded = Self.folded(parameter)
        return """
            b.id = ANY (ARRAY(
              WITH searched AS MATERIALIZED (
                SELECT o.id, o.title, concat_ws(' ', o.search_text, e.search_text) AS text
                FROM books o
                LEFT JOIN editions e ON e.id = o.edition_id
                WHERE o.user_id = $1
              ),
              exact AS MATERIALIZED (
                SELECT s.id
                FROM searched s
                WHERE CASE \(folded)
                  WHEN '' THEN strpos(s.title, \(parameter)) > 0
                  ELSE ' ' || s.text LIKE ALL ((
                    SELECT array_agg('% ' || word || '%')
                    FROM unnest(string_to_array(search_fold(\(parameter)), ' ')) word
                  )::text[])
                END
              )
              SELECT id FROM exact
              UNION ALL
              SELECT s.id
              FROM searched s
              WHERE NOT EXISTS (SELECT FROM exact)
                AND \(folded) <> ''
                AND search_matches(s.text, \(folded))
            ))
            """
    }

    /// Returns the SQL expression of a book's relevance.
    func score(_ parameter: String) -> String {
        if isISBN { return "1::float8" }
        return """
            (
              similarity(b.search_text, \(Self.folded(parameter)))
              + word_similarity(\(Self.folded(parameter)), b.search_text)
            )::float8
            """
    }

    /// Returns the folded text as a subquery, which runs once and not for each row.
    private static func folded(_ parameter: String) -> String {
        "(SELECT search_fold(\(parameter)))"
    }
}
