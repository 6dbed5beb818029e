import GraphQL
import GraphQLPostgres
import Postgres

/// `Query.lookupISBN`: the catalogue's edition, or else one that the outside sources know, which is then
/// the catalogue's.
struct ISBNLookup: FieldLoader {
    func prepare(_ field: SelectedField) -> any PreparedLoad {
        let type = FeedCard.type
        var columns = ColumnSet()
        let layout = RowLayout(field.selections[0], of: type, columns: &columns)
        // The caller is $1 in every type's columns.
        let byISBN = Statement(
            "SELECT \(columns.sql) FROM \(type.table) WHERE \(type.scope) AND e.isbn13 = $2")
        return Prepared(layout: layout, byISBN: byISBN)
    }

    private struct Prepared: RequestLoad {
        let layout: RowLayout
        let byISBN: Statement

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: RequestContext
        ) throws(BookplateError) -> Load {
            let viewer = try request.caller()
            guard let isbn = try ISBN.optional(arguments["isbn"]?.string) else {
                throw .badUserInput(field: "isbn", ISBN.Problem.length.message)
            }
            var parameters = Parameters.of(viewer.userID)
            parameters.append(text: isbn.description)
            let entry = ISBNLookups.Entry(
                isbn: isbn, statement: byISBN, parameters: parameters,
                inCatalog: request.query(byISBN, parameters))
            request.lookUp(entry)
            return .afterFlush { parents in
                request.children(of: parents) { () throws(BookplateError) in
                    let rows = try entry.rows()
                    guard rows.count > 0 else { return .null(1) }
                    return Children(
                        slots: [.object(group: 0, index: 0)],
                        groups: [.init(RowBatch(rows, layout))])
                }
            }
        }
    }
}

/// The look-ups of one level of a query. A look-up that has to wait for the sources waits together with the others.
final class ISBNLookups {
    final class Entry {
        let isbn: ISBN
        fileprivate let statement: Statement
        fileprivate let parameters: Parameters
        private let inCatalog: RequestContext.PendingRows
        fileprivate var afterwards: Result<Rows, BookplateError>?

        init(
            isbn: ISBN, statement: Statement, parameters: Parameters,
            inCatalog: RequestContext.PendingRows
        ) {
            self.isbn = isbn
            self.statement = statement
            self.parameters = parameters
            self.inCatalog = inCatalog
        }

        /// The edition, once the level was flushed.
        func rows() throws(BookplateError) -> Rows {
            if let afterwards { return try afterwards.get() }
            return try inCatalog.rows()
        }
    }

    /// So many ISBNs are asked for outside of one request, as by `createBooks`.
    private static let askedMax = Book.creationsMax

    var entries: [Entry] = []

    /// Asks the sources for what the catalogue does not have, and the catalogue again for what they found.
    fileprivate func askMissing(for request: RequestContext) async throws(BookplateError) {
        var missing: [Entry] = []
        for entry in entries {
            if try entry.rows().count == 0 { missing.append(entry) }
        }
        guard !missing.isEmpty else { return }
        var isbns: [ISBN] = []
        for entry in missing where !isbns.contains(entry.isbn) { isbns.append(entry.isbn) }
        let asked = Array(isbns.prefix(Self.askedMax))
        let unavailable = try await OutsideEditions.fetch(asked, for: request)
            .union(isbns.dropFirst(Self.askedMax))
        let answers = try await request.read { segment, _ in
            for entry in missing { segment.append(entry.statement, entry.parameters) }
        }
        for (entry, rows) in zip(missing, answers) {
            entry.afterwards =
                unavailable.contains(entry.isbn) && rows.count == 0
                ? .failure(.upstreamUnavailable(OutsideEditions.unavailable)) : .success(rows)
        }
    }

    func askOutside(for request: RequestContext) async {
        do throws(BookplateError) {
            try await askMissing(for: request)
        } catch {
            for entry in entries where (try? entry.rows())?.count == 0 {
                entry.afterwards = .failure(error)
            }
        }
    }
}
