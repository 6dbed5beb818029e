import Basics
import GraphQL
import GraphQLPostgres
import Identity
import Postgres
import Requests

/// Resolves `Query.search`: books of the catalog by words or by an ISBN, the best match first.
///
/// If the catalog has only a few matches, external sources are searched too, and the books that they find are added to
/// the catalog.
struct CatalogSearch: FieldLoader {
    static let queryCharactersMax = 200
    /// External sources are searched only if fewer books than this contain all words.
    private static let matchesEnough = 3

    func prepare(_ field: SelectedField) -> any PreparedLoad {
        var columns = ColumnSet()
        let prepared = Prepared(
            selection: field.selections[0],
            layouts: ConnectionLayouts(field, of: FeedCard.type, columns: &columns),
            id: columns.index(of: FeedCard.id),
            score: columns.index(of: Column("s.score", .float)),
            isMatch: columns.index(of: Column("s.is_match", .boolean)),
            droppedWords: columns.index(of: Column("s.dropped_words", .texts)),
            // The caller is $1 in the columns of every type.
            byWords: Statement(
                """
                WITH s AS MATERIALIZED (
                    SELECT *
                    FROM search_editions($2, $3, $4, $5)
                )
                SELECT \(columns.sql)
                FROM s
                JOIN editions e ON e.id = s.id
                -- The array makes PostgreSQL look up the editions, also in a catalog without statistics.
                WHERE e.id = ANY(ARRAY(SELECT id FROM s))
                ORDER BY s.score DESC, s.id DESC
                """),
            byISBN: Statement(
                """
                SELECT \(columns.sql)
                FROM (SELECT 0::float8 AS score, true AS is_match, '{}'::text[] AS dropped_words) s, editions e
                WHERE e.isbn13 = $2
                """))
        return PreparedCall(isConcurrent: true) { arguments, request throws(BookplateError) in
            let query = try TextInput.line(
                arguments["query"]?.string ?? "", field: "query",
                charactersMax: Self.queryCharactersMax)
            let first = try arguments.pageSize()
            let after = try arguments["after"]?.string.map { text throws(BookplateError) in
                try Position(cursor: text)
            }
            if let isbn = ISBN(query) {
                return try await prepared.page(isbn, after, request)
            }
            return try await prepared.page(query, first, after, request)
        }
    }

    private struct Prepared {
        let selection: PlannedSelection
        let layouts: ConnectionLayouts
        let id: Int
        let score: Int
        let isMatch: Int
        let droppedWords: Int
        let byWords: Statement
        let byISBN: Statement

        /// Returns a page with the edition of an ISBN.
        func page(
            _ isbn: ISBN, _ after: Position?, _ request: RequestContext
        ) async throws(BookplateError) -> Children {
            func readCatalog() async throws(BookplateError) -> Rows {
                let (results, rows) = try await request.read { pipeline, viewer in
                    var parameters = Parameters.of(viewer.userID)
                    parameters.append(text: isbn.description)
                    return pipeline.appendForRows(byISBN, parameters)
                }
                return results[rows]
            }
            var rows = try await readCatalog()
            if rows.count == 0 {
                _ = try await ExternalEditions.fetch([isbn], for: request)
                rows = try await readCatalog()
            }
            return page(rows, after == nil ? rows.count : 0, after)
        }

        /// Returns a page of books that match words.
        func page(
            _ query: String, _ first: Int, _ after: Position?, _ request: RequestContext
        ) async throws(BookplateError) -> Children {
            func readCatalog() async throws(BookplateError) -> Rows {
                let (results, rows) = try await request.read { pipeline, viewer in
                    var parameters = Parameters.of(viewer.userID)
                    parameters.append(text: query)
                    parameters.append(int32: Int32(first + 1))
                    parameters.append(float8: after?.score)
                    parameters.append(uuid: after?.id)
                    return pipeline.appendForRows(byWords, parameters)
                }
                return results[rows]
            }
            var rows = try await readCatalog()
            let matches = (0..<rows.count).count { rows.bool($0, isMatch) == true }
            if after == nil, matches < min(first, matchesEnough),
                try await ExternalEditions.fetch(wordsOf: query, for: request)
            {
                rows = try await readCatalog()
            }
            return page(rows, first, after)
        }

        private func page(_ rows: Rows, _ first: Int, _ after: Position?) -> Children {
            let page = ConnectionBatch.Page(
                positions: 0..<Int32(min(first, rows.count)), hasNextPage: rows.count > first,
                hasPreviousPage: after != nil)
            return .each(
                of: ConnectionBatch(
                    rows, pages: [page], layouts: layouts, selection: selection,
                    writeOther: { field, writer in
                        guard field == "droppedWords" else { return .null }
                        // Every row has the same words.
                        let words = rows.count > 0 ? rows.texts(0, droppedWords) : []
                        writer.write(.list((words ?? []).map { .string($0) }))
                        return .value
                    },
                    cursor: { row in
                        Position(score: rows.float8(row, score) ?? 0, id: rows.uuid(row, id)).cursor
                    }))
        }
    }

    /// A position in the order of a search, which a cursor encodes.
    struct Position: Equatable {
        let score: Double
        let id: UUID?

        init(score: Double, id: UUID?) {
            self.score = score
            self.id = id
        }

        /// The score (big-endian) and the id, in base64url.
        var cursor: String {
            var bytes: [UInt8] = []
            withUnsafeBytes(of: score.bitPattern.bigEndian) { bytes.append(contentsOf: $0) }
            return Base64URL.encode(bytes + (id?.bytes ?? []))
        }

        /// - Throws: `.badUserInput` if the cursor is not from a search.
        init(cursor: String) throws(BookplateError) {
            guard cursor.utf8.count <= 64, let bytes = Base64URL.decode(cursor.utf8),
                bytes.count == 24, let id = bytes[8...].withUnsafeBytes({ UUID(bytes: $0) })
            else {
                throw .badUserInput(
                    field: "after",
                    .init(.invalidCursor))
            }
            let bits = bytes[..<8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            self.init(score: Double(bitPattern: bits), id: id)
        }
    }
}
