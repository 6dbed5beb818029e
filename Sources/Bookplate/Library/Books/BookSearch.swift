/// What a reader looks for among the books of the library.
struct BookSearch {
    /// The 13 digits of an ISBN, or the words as they were typed.
    let text: String
    private let isISBN: Bool

    /// - Returns: nil where nothing is looked for.
    /// - Throws: `.badUserInput` for what is blank or too long.
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

    /// Whether `books b` has it, `parameter` being the text. What the catalogue says of the book counts too:
    /// subtitle, series, other authors. Misspelled words are looked for where no book of the library has all words as
    /// they were typed. What folds to nothing, such as "%", is looked for as it is.
    func condition(_ parameter: String) -> String {
        if isISBN { return "b.isbn13 = \(parameter)" }
        return """
            CASE WHEN \(Self.folded(parameter)) = '' THEN strpos(b.title, \(parameter)) > 0 \
            WHEN (SELECT EXISTS (SELECT FROM books o WHERE o.user_id = $1 \
            AND \(Self.hasAllWords("o", parameter)))) THEN \(Self.hasAllWords("b", parameter)) \
            ELSE search_matches(\(Self.text(of: "b")), \(Self.folded(parameter))) END
            """
    }

    /// Whether each word begins one of the book's. Folded words have no signs that LIKE knows.
    private static func hasAllWords(_ book: String, _ parameter: String) -> String {
        """
        ' ' || \(text(of: book)) LIKE ALL ((SELECT array_agg('% ' || word || '%') \
        FROM unnest(string_to_array(search_fold(\(parameter)), ' ')) word)::text[])
        """
    }

    private static func text(of book: String) -> String {
        """
        concat_ws(' ', \(book).search_text, (SELECT e.search_text FROM editions e \
        WHERE e.id = \(book).edition_id))
        """
    }

    /// How well a book fits.
    func score(_ parameter: String) -> String {
        if isISBN { return "1::float8" }
        return """
            (similarity(b.search_text, \(Self.folded(parameter))) \
            + word_similarity(\(Self.folded(parameter)), b.search_text))::float8
            """
    }

    /// In a subquery, which is run once and not for each row.
    private static func folded(_ parameter: String) -> String {
        "(SELECT search_fold(\(parameter)))"
    }
}
