import BookSources
import JobQueue
import Postgres

/// Editions that the catalogue does not have, from the outside sources.
enum OutsideEditions {
    /// How long a source that does not know an ISBN is not asked for it again.
    private static let missSeconds: Int32 = 24 * 3600

    /// Asks the sources for ISBNs and saves in the catalogue what they know.
    ///
    /// - Returns: the ISBNs of which nobody could say anything; of the others, those that somebody knows
    ///   are in the catalogue now.
    static func fetch(
        _ isbns: [ISBN], for request: RequestContext
    ) async throws(BookplateError) -> Set<ISBN> {
        let sources = request.services.bookSources
        guard !isbns.isEmpty, !sources.names.isEmpty else { return [] }
        var misses = try await misses(of: isbns, for: request)
        let asked = isbns.filter { misses[BookNumber($0)]?.isSuperset(of: sources.names) != true }
        let lookups = await sources.editions(asked.map { BookNumber($0) }, skipping: misses)

        var found: [EditionFacts] = []
        var fresh: [(SourceName, ISBN)] = []
        var unavailable: Set<ISBN> = []
        // In one order, so that two requests that save the same books do not wait for one another.
        for isbn in asked.sorted(by: { $0.description < $1.description }) {
            let number = BookNumber(isbn)
            guard let lookup = lookups[number] else { continue }
            if let facts = lookup.record.flatMap({ EditionFacts($0, isbn: isbn) }) {
                found.append(facts)
            }
            fresh += lookup.misses.map { ($0, isbn) }
            misses[number, default: []].formUnion(lookup.misses)
            if lookup.record == nil, misses[number]?.isEmpty != false { unavailable.insert(isbn) }
        }
        if !found.isEmpty || !fresh.isEmpty {
            _ = try await request.write { segment, _ in
                for facts in found {
                    facts.append(to: &segment)
                    guard !facts.coverLinks.isEmpty else { continue }
                    segment.enqueue(
                        FetchEditionCover.self, .init(isbn13: facts.number), for: nil,
                        key: facts.number, priority: .background)
                }
                if !fresh.isEmpty { remember(fresh, in: &segment) }
            }
        }
        return unavailable
    }

    private static func misses(
        of isbns: [ISBN], for request: RequestContext
    ) async throws(BookplateError) -> [BookNumber: Set<SourceName>] {
        let rows = try await request.read { segment, _ in
            var parameters = Parameters()
            parameters.append(texts: isbns.map(\.description))
            segment.append(selectMisses, parameters)
        }[0]
        let numbers = Dictionary(
            isbns.map { ($0.description, BookNumber($0)) }, uniquingKeysWith: { first, _ in first })
        var misses: [BookNumber: Set<SourceName>] = [:]
        for row in 0..<rows.count {
            guard let number = rows.text(row, 0).flatMap({ numbers[$0] }),
                let source = rows.text(row, 1).flatMap({ SourceName(rawValue: $0) })
            else { continue }
            misses[number, default: []].insert(source)
        }
        return misses
    }

    private static func remember(_ misses: [(SourceName, ISBN)], in segment: inout Pipeline) {
        var parameters = Parameters()
        parameters.append(texts: misses.map(\.0.rawValue))
        parameters.append(texts: misses.map(\.1.description))
        parameters.append(int32: missSeconds)
        segment.append(rememberMisses, parameters)
    }

    private static let selectMisses = Statement(
        """
        SELECT isbn13, source FROM source_misses WHERE isbn13 = ANY($1) AND expires_at > now()
        """)
    private static let rememberMisses = Statement("SELECT remember_misses($1, $2, $3)")

    static let unavailable =
        "The book services cannot be asked right now. Try again in a moment, or add the book with its title."
}
