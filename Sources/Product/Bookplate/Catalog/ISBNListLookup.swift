import GraphQL
import Postgres
import Requests

/// Resolves `Query.lookupISBNs`: the edition of each ISBN of a list, or why there is none. Two statements find the editions that the
/// catalog has, for any number of ISBNs. The sources are asked for all others together.
enum ISBNListLookup {
    /// The maximum number of ISBNs. It is the limit of `createBooks`.
    static let isbnsMax = Book.creationsMax

    static let resultFields: [String: FieldResolver] = [
        "isbn": .property, "card": .load(RowsOfPlainObject(.one, FeedCard.type)),
        "error": .load(PlainObjectsField(.one)),
    ]

    static let find = PlainMutation(.many, isConcurrent: true) {
        arguments, request throws(BookplateError) in
        let texts = arguments["isbns"]?.list?.compactMap(\.string) ?? []
        guard texts.count <= isbnsMax else {
            throw .badUserInput(field: "isbns", .init(.tooMany, max: isbnsMax))
        }
        try request.charges.charge(RateLimits.units(forBatchOf: texts.count))
        let entries = texts.map { ISBN.read($0) }
        let lookup = try await lookUp(entries.compactMap { try? $0.get() }, request)
        return entries.map { entry in
            switch entry {
            case .failure(let problem):
                return Batch.failed(
                    .badUserInput(field: "isbns", .init(problem.reason)), in: request)
            case .success(let isbn):
                var result =
                    if let card = lookup.cards[isbn] {
                        PlainObject(ids: ["card": [card]])
                    } else {
                        Batch.failed(lookup.errors[isbn] ?? .notFound(.unknownISBN), in: request)
                    }
                result.leaves["isbn"] = .string(isbn.description)
                return result
            }
        }
    }

    /// The result of `lookUp`.
    struct Lookup {
        /// The ids of the editions that the catalog has now.
        fileprivate(set) var cards: [ISBN: UUID]
        /// Why other ISBNs could not be looked up. It has no error of an ISBN that no source knows.
        fileprivate(set) var errors: [ISBN: BookplateError] = [:]

        func outcome(of isbn: ISBN) -> ScanOutcome {
            if cards[isbn] != nil { return .found }
            return errors[isbn] == nil ? .unknown : .failed
        }
    }

    /// Finds the editions of ISBNs, which may repeat, in the catalog and at the sources.
    static func lookUp(
        _ repeated: [ISBN], _ request: RequestContext
    ) async throws(BookplateError) -> Lookup {
        var isbns: [ISBN] = []
        for isbn in repeated where !isbns.contains(isbn) { isbns.append(isbn) }
        var lookup = Lookup(cards: try await cards(of: isbns, request))
        let missing = isbns.filter { lookup.cards[$0] == nil }
        guard !missing.isEmpty else { return lookup }
        do throws(BookplateError) {
            lookup.errors = try await ExternalEditions.fetch(missing, for: request)
        } catch {
            // The caller has too few units for all of them. The books that the catalog has are returned anyway.
            guard case .rateLimited = error else { throw error }
            for isbn in missing { lookup.errors[isbn] = error }
        }
        lookup.cards.merge(try await cards(of: missing, request)) { $1 }
        return lookup
    }

    /// Returns the editions that the catalog has.
    private static func cards(
        of isbns: [ISBN], _ request: RequestContext
    ) async throws(BookplateError) -> [ISBN: UUID] {
        guard !isbns.isEmpty else { return [:] }
        let found = try await request.read { pipeline, _ in
            var parameters = Parameters()
            parameters.append(texts: isbns.map(\.description))
            return pipeline.append(KnownEdition.select, parameters)
        }
        return Dictionary(found.map { ($0.isbn, $0.id) }) { first, _ in first }
    }

    private struct KnownEdition: RowDecodable {
        let isbn: ISBN
        let id: UUID

        init?(_ row: inout RowReader) {
            guard let isbn = row.text().flatMap({ ISBN($0) }), let id = row.uuid() else {
                return nil
            }
            self.isbn = isbn
            self.id = id
        }

        static let select = TypedStatement<Self>(
            "SELECT isbn13, id FROM editions WHERE isbn13 = ANY($1)")
    }
}
