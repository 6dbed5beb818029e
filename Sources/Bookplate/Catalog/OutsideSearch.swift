import BookSources
import Postgres

extension OutsideEditions {
    /// How long the sources are not asked for the same words again.
    private static let searchSeconds: Int32 = 24 * 3600
    /// A reader waits for it.
    private static let searchBudget = Duration.milliseconds(1500)
    /// Of each source.
    private static let searchCount = 10

    /// Asks the sources for books by words and saves in the catalogue those that have an ISBN.
    ///
    /// - Returns: whether there are any.
    static func fetch(
        wordsOf query: String, for request: RequestContext
    ) async throws(BookplateError) -> Bool {
        let sources = request.services.bookSources
        // One or two letters are the beginning of a word that is being typed.
        guard !sources.names.isEmpty, query.unicodeScalars.count > 2 else { return false }
        var parameters = Parameters()
        parameters.append(text: query)
        let asked = try await request.read { segment, _ in segment.append(wasAsked, parameters) }[0]
        guard asked.bool(0, 0) == false else { return false }

        let search = await sources.search(
            .anywhere(query), count: searchCount, within: searchBudget)
        var isbns: Set<ISBN> = []
        var found: [(isbn: ISBN, facts: EditionFacts)] = []
        for record in search.records {
            guard let isbn = record.isbns.lazy.compactMap({ ISBN($0) }).first,
                isbns.insert(isbn).inserted, let facts = EditionFacts(record, isbn: isbn)
            else { continue }
            found.append((isbn, facts))
        }
        // In one order, so that two requests that save the same books do not wait for one another.
        found.sort { $0.isbn.description < $1.isbn.description }
        guard !found.isEmpty || search.failures.isEmpty else { return false }
        _ = try await request.write { segment, _ in
            for (_, facts) in found { facts.append(to: &segment) }
            if search.failures.isEmpty {
                parameters.append(int32: searchSeconds)
                segment.append(remember, parameters)
            }
        }
        return !found.isEmpty
    }

    /// Words that fold to nothing are never asked for.
    private static let wasAsked = Statement(
        """
        SELECT search_fold($1) = '' OR EXISTS (SELECT FROM source_searches \
        WHERE query = search_fold($1) AND expires_at > now())
        """)
    private static let remember = Statement("SELECT remember_search($1, $2)")
}
