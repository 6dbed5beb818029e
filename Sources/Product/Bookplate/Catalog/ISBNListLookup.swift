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
        var isbns: [ISBN] = []
        for case .success(let isbn) in entries where !isbns.contains(isbn) { isbns.append(isbn) }
        var cards = try await cards(of: isbns, request)
        let missing = isbns.filter { cards[$0] == nil }
        var errors: [ISBN: BookplateError] = [:]
        if !missing.isEmpty {
            do throws(BookplateError) {
                errors = try await ExternalEditions.fetch(missing, for: request)
            } catch {
                // The caller has too few units for all of them. The books that the catalog has are returned anyway.
                guard case .rateLimited = error else { throw error }
                for isbn in missing { errors[isbn] = error }
            }
            cards.merge(try await Self.cards(of: missing, request)) { $1 }
        }
        return entries.map { entry in
            switch entry {
            case .failure(let problem):
                return Batch.failed(
                    .badUserInput(field: "isbns", .init(problem.reason)), in: request)
            case .success(let isbn):
                var result =
                    if let card = cards[isbn] {
                        PlainObject(ids: ["card": [card]])
                    } else {
                        Batch.failed(errors[isbn] ?? .notFound(.unknownISBN), in: request)
                    }
                result.leaves["isbn"] = .string(isbn.description)
                return result
            }
        }
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
