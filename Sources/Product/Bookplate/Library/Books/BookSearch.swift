import Requests

/// A search for books in a library. The SQL function `search_books` finds them, and explains what matches.
struct BookSearch: Sendable {
    /// The 13 digits of an ISBN, or the words as typed.
    let text: String
    let isISBN: Bool

    /// - Throws: `.badUserInput` if the text is blank or too long.
    init(_ search: String) throws(BookplateError) {
        if let isbn = ISBN(search) {
            (text, isISBN) = (isbn.description, true)
        } else {
            text = try TextInput.line(
                search, field: "search", charactersMax: CatalogSearch.queryCharactersMax)
            isISBN = false
        }
    }

    /// Returns the SQL condition under which an entry `l` of a list matches the text in `parameter` without misspellings.
    func condition(_ parameter: String) -> String {
        """
        (' ' || left(l.search_text, 2000) || ' ') LIKE ALL ((SELECT library_search_patterns(\(parameter)))::text[])
        """
    }

    /// Returns the SQL expression of the relevance of an entry `l`, from the first 100 letters of the query and the first 200 of the book,
    /// without the words that only its edition has.
    func score(_ parameter: String) -> String {
        if isISBN { return "1::float8" }
        let folded = "(SELECT left(search_fold(\(parameter)), 100))"
        let searched = "left(split_part(l.search_text, E'\\n', 1), 200)"
        return """
            (
              similarity(\(searched), \(folded))
              + word_similarity(\(folded), \(searched))
            )::float8
            """
    }
}
