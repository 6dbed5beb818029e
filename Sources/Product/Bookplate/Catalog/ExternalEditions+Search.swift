import BookSources
import Postgres
import Requests

extension ExternalEditions {
    /// How long the sources are not searched again for the same words.
    private static let searchSeconds: Int32 = 24 * 3600
    /// The maximum time of a search. It is short because a reader waits for the result.
    private static let searchBudget = Duration.milliseconds(1500)
    /// The maximum number of results from each source.
    private static let searchCount = 10

    /// Searches the sources for words and saves the books that they find in the catalog. Charges the search.
    ///
    /// - Returns: Whether books were found.
    /// - Throws: `.rateLimited` if the caller does not have enough units.
    static func fetch(
        wordsOf query: String, for request: RequestContext
    ) async throws(BookplateError) -> Bool {
        let sources = request.services.bookSources
        // One or two letters are the beginning of a word that the reader is typing.
        guard !sources.names.isEmpty, query.unicodeScalars.count > 2 else { return false }
        var parameters = Parameters()
        parameters.append(text: query)
        let skips = try await request.read { [parameters] pipeline, _ in
            pipeline.append(skipsSearch, parameters)
        }
        let reader = try request.caller().userID
        guard skips.first == false, sources.takeSearch(of: reader) else { return false }
        try request.charges.charge(RateLimits.unitsPerLookup)

        let search = await sources.search(
            .anywhere(query), count: searchCount, within: searchBudget, for: reader)
        var isbns: Set<ISBN> = []
        var found: [EditionFacts] = []
        for record in search.records {
            if let isbn = record.isbns.lazy.compactMap({ ISBN($0) }).first {
                guard isbns.insert(isbn).inserted, let facts = EditionFacts(record, isbn: isbn)
                else { continue }
                found.append(facts)
            } else if !record.authors.isEmpty, let facts = EditionFacts(withoutISBN: record) {
                // Scans of old books often have no author, and readers would not recognize them.
                found.append(facts)
            }
        }
        // All requests save books in the same order, so that they seldom wait for each other.
        found.sort { $0.order < $1.order }
        var locked: [EditionFacts] = []
        if !found.isEmpty {
            locked = try await save(found, within: searchSavingTime, for: request)
        }
        if search.failures.isEmpty, locked.isEmpty {
            parameters.append(int32: searchSeconds)
            try await request.write { [parameters] pipeline, _ in
                pipeline.append(rememberSearch, parameters)
            }
        }
        return !found.isEmpty
    }

    /// Whether the words were searched for recently or contain nothing to search for.
    private static let skipsSearch = TypedStatement<Bool>(
        """
        SELECT search_fold($1) = '' OR EXISTS (
            SELECT
            FROM source_searches
            WHERE query = left(search_fold($1), 400) AND expires_at > now()
        )
        """)
    /// Records that the sources answered the query `$1`, for `$2` seconds.
    private static let rememberSearch = Statement(
        """
        INSERT INTO source_searches (query, expires_at)
        VALUES (left(search_fold($1), 400), now() + $2 * interval '1 second')
        ON CONFLICT (query) DO UPDATE
        SET expires_at = excluded.expires_at
        """)
}
