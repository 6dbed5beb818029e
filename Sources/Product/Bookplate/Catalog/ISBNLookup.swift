import GraphQL
import GraphQLPostgres
import Postgres
import Requests

/// Resolves `Query.lookupISBN`: the edition in the catalog, or one from an external source, which is added to the
/// catalog.
struct ISBNLookup: FieldLoader {
    func prepare(_ field: SelectedField) -> any PreparedLoad {
        let type = FeedCard.type
        var columns = ColumnSet()
        let layout = RowLayout(field.selections[0], of: type, columns: &columns)
        // The caller is $1 in the columns of every type.
        let byISBN = Statement(
            """
            SELECT \(columns.sql)
            FROM \(type.table)
            WHERE \(type.scope) AND e.isbn13 = $2
            """)
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
                throw .badUserInput(field: "isbn", .init(.isbnLength))
            }
            var parameters = Parameters.of(viewer.userID)
            parameters.append(text: isbn.description)
            let entry = ISBNLookups.Entry(
                isbn: isbn, statement: byISBN, parameters: parameters,
                catalogRows: request.query(byISBN, parameters))
            let lookups = request.shared { ISBNLookups() }
            lookups.entries.append(entry)
            return .afterFlushThen { parents in
                // If the statement has failed, the load reports that.
                guard let rows = try? entry.rows(), rows.count == 0 else {
                    return .ready(
                        request.children(of: parents) { () throws(BookplateError) in
                            children(try entry.rows())
                        })
                }
                return request.concurrentLoad { () throws(BookplateError) in
                    await lookups.fetchMissing(for: request)
                    return children(try entry.rows())
                }
            }
        }

        private func children(_ rows: Rows) -> Children {
            guard rows.count > 0 else { return .null(1) }
            return Children(
                slots: [.object(group: 0, index: 0)], groups: [.init(RowBatch(rows, layout))])
        }
    }
}

/// The ISBN lookups of one level of a query. They query the external sources together.
final class ISBNLookups {
    final class Entry {
        let isbn: ISBN
        fileprivate let statement: Statement
        fileprivate let parameters: Parameters
        private let catalogRows: RequestContext.PendingRows
        /// The result after the external sources were queried.
        fileprivate var externalResult: Result<Rows, BookplateError>?

        init(
            isbn: ISBN, statement: Statement, parameters: Parameters,
            catalogRows: RequestContext.PendingRows
        ) {
            self.isbn = isbn
            self.statement = statement
            self.parameters = parameters
            self.catalogRows = catalogRows
        }

        /// Returns the edition's rows. Call it after the level was flushed. There are none if the catalog does not have the
        /// edition, and `fetchMissing` has not been called.
        func rows() throws(BookplateError) -> Rows {
            if let externalResult { return try externalResult.get() }
            return try catalogRows.rows()
        }
    }

    /// The maximum number of ISBNs that one level looks up at external sources. It is the limit of `createBooks`.
    private static let externalMax = Book.creationsMax

    private enum State {
        case new
        /// The continuations are those of the fields that wait.
        case fetching([CheckedContinuation<Void, Never>])
        case ended
    }

    var entries: [Entry] = []
    private var state = State.new

    /// Looks up the ISBNs that the catalog does not have at the sources, then reads the catalog again.
    private func fetchMissingEntries(for request: RequestContext) async throws(BookplateError) {
        var missing: [Entry] = []
        for entry in entries {
            if try entry.rows().count == 0 { missing.append(entry) }
        }
        guard !missing.isEmpty else { return }
        var isbns: [ISBN] = []
        for entry in missing where !isbns.contains(entry.isbn) { isbns.append(entry.isbn) }
        let requested = Array(isbns.prefix(Self.externalMax))
        var errors = try await ExternalEditions.fetch(requested, for: request)
        for isbn in isbns.dropFirst(Self.externalMax) {
            errors[isbn] = .rateLimited(retryAfterSeconds: 1)
        }
        let (results, keys) = try await request.read { pipeline, _ in
            missing.map { pipeline.appendForRows($0.statement, $0.parameters) }
        }
        for (entry, key) in zip(missing, keys) {
            let rows = results[key]
            entry.externalResult =
                if rows.count == 0, let error = errors[entry.isbn] {
                    .failure(error)
                } else {
                    .success(rows)
                }
        }
    }

    /// Queries the external sources for the ISBNs that the catalog does not have. Each field of the level that needs one of
    /// them calls this: the first call does it for all, and the others wait.
    func fetchMissing(for request: RequestContext) async {
        switch state {
        case .ended: return
        case .fetching(let waiting):
            return await withCheckedContinuation { state = .fetching(waiting + [$0]) }
        case .new: state = .fetching([])
        }
        do throws(BookplateError) {
            try await fetchMissingEntries(for: request)
        } catch {
            for entry in entries where (try? entry.rows())?.count == 0 {
                entry.externalResult = .failure(error)
            }
        }
        guard case .fetching(let waiting) = state else { return }
        state = .ended
        for continuation in waiting { continuation.resume() }
    }
}
