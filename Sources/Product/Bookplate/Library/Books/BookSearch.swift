import Requests

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
    /// the library has all words as typed, misspelled, joined, and split words match as well (`search_patterns`). A text without letters and digits, such as
    /// "%", folds to an empty text; it is then searched in the titles as it is. Folded words contain no LIKE wildcards.
    ///
    /// The first 12 words count, and the first 2,000 letters of a book. Misspelled words are compared once, and not for each
    /// book, with at most 20,000 different words of the first 200,000 words of the library.
    ///
    /// Relies on this plan: the subquery runs once and reads each book of the reader, and its record, once.
    func condition(_ parameter: String) -> String {
        if isISBN { return "b.isbn13 = \(parameter)" }
        let folded = Self.folded(parameter)
        let words = "(SELECT (search_query_words(\(parameter)))[1:12])"
        return """
            b.id = ANY (ARRAY(
              WITH searched AS MATERIALIZED (
                SELECT o.id, o.title, concat_ws(' ', '', left(o.search_text, 2000), left(e.search_text, 2000), '') AS text
                FROM books o
                LEFT JOIN editions e ON e.id = o.edition_id
                WHERE o.user_id = $1
              ),
              exact AS MATERIALIZED (
                SELECT s.id
                FROM searched s
                WHERE CASE \(folded)
                  WHEN '' THEN strpos(s.title, \(parameter)) > 0
                  ELSE s.text LIKE ALL ((
                    SELECT array_agg('% ' || word || '%')
                    FROM unnest(\(words)) word
                  )::text[])
                END
              )
              SELECT id FROM exact
              UNION ALL
              SELECT s.id
              FROM searched s
              WHERE NOT EXISTS (SELECT FROM exact)
                AND \(folded) <> ''
                AND s.text ~ ALL ((
                  SELECT search_patterns(
                    \(words),
                    ARRAY(
                      SELECT DISTINCT k.word
                      FROM (SELECT string_to_table(text, ' ') AS word FROM searched LIMIT 200000) k
                      WHERE length(k.word) BETWEEN 2 AND 42
                      LIMIT 20000
                    ))
                )::text[])
            ))
            """
    }

    /// Returns the SQL expression of a book's relevance, from the first 100 letters of the query and the first 200 of the book.
    func score(_ parameter: String) -> String {
        if isISBN { return "1::float8" }
        let folded = Self.folded(parameter, lettersMax: 100)
        return """
            (
              similarity(left(b.search_text, 200), \(folded))
              + word_similarity(\(folded), left(b.search_text, 200))
            )::float8
            """
    }

    /// Returns the folded text as a subquery, which runs once and not for each row. Some characters fold to several letters.
    private static func folded(_ parameter: String, lettersMax: Int = 400) -> String {
        "(SELECT left(search_fold(\(parameter)), \(lettersMax)))"
    }
}
