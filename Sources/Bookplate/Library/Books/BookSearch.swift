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

    /// Returns the SQL condition under which `books b` matches the text in `parameter`.
    ///
    /// The catalog's record of the book is searched too, with its subtitle, series, and other authors. If no book in
    /// the library has all words as typed, misspelled words match as well. A text without letters and digits, such as
    /// "%", folds to an empty text; it is then searched in the titles as it is.
    func condition(_ parameter: String) -> String {
        if isISBN { return "b.isbn13 = \(parameter)" }
        return """
            CASE
              WHEN \(Self.folded(parameter)) = '' THEN strpos(b.title, \(parameter)) > 0
              -- An uncorrelated subquery runs once per query, not once per book.
              WHEN (
                SELECT EXISTS (
                  SELECT FROM books o
                  WHERE o.user_id = $1 AND \(Self.hasAllWords("o", parameter))
                )
              ) THEN \(Self.hasAllWords("b", parameter))
              ELSE search_matches(\(Self.text(of: "b")), \(Self.folded(parameter)))
            END
            """
    }

    /// Returns the SQL condition that each word of the search is the beginning of one of the book's words. Folded words
    /// contain no LIKE wildcards.
    private static func hasAllWords(_ book: String, _ parameter: String) -> String {
        """
        ' ' || \(text(of: book)) LIKE ALL ((
          SELECT array_agg('% ' || word || '%')
          FROM unnest(string_to_array(search_fold(\(parameter)), ' ')) word
        )::text[])
        """
    }

    private static func text(of book: String) -> String {
        """
        concat_ws(
          ' ',
          \(book).search_text,
          (SELECT e.search_text FROM editions e WHERE e.id = \(book).edition_id)
        )
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
