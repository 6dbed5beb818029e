import GraphQL
import GraphQLPostgres
import Postgres
import Requests

extension Book {
    static let move = PlainMutation(.one) { arguments, request throws(BookplateError) in
        let id = try arguments.id("id", else: .noSuchBook)
        let input = InputObject(arguments["input"])
        let moves = BookMoves([try BookMoves.Entry(book: id, input)])
        let (results, keys) = try await request.write { moves.append(to: &$0, for: $1) }
        let moved = moves.outcomes(results, keys)
        if let error = moved.compactMap(\.error).first { throw error }
        return moved.map(\.payload)
    }

    static let moveMany = PlainMutation(.many) { arguments, request throws(BookplateError) in
        let entries = try await Batch.entries(
            of: arguments, max: batchMax, in: request
        ) { input throws(BookplateError) in
            try BookMoves.Entry(
                book: try input.id("id", else: .noSuchBook), InputObject(input["input"]))
        }
        let moves = BookMoves(entries.compactMap { try? $0.get() })
        let (results, keys) = try await request.write { moves.append(to: &$0, for: $1) }
        var moved = moves.outcomes(results, keys)[...]
        return entries.map { entry in
            switch entry {
            case .failure(let error): return Batch.failed(error, in: request)
            case .success:
                guard let outcome = moved.popFirst() else {
                    return Batch.failed(.internalError, in: request)
                }
                return outcome.error.map { Batch.failed($0, in: request) } ?? outcome.payload
            }
        }
    }

    static let movePayloadFields: [String: FieldResolver] = [
        "book": .load(RowsOfPlainObject(.one, type)),
        "leftShelves": .load(RowsOfPlainObject(.many, Shelf.type)),
        "joinedShelf": .load(RowsOfPlainObject(.one, Shelf.type)),
    ]
}

/// Moves of several books in one transaction. Each succeeds or fails on its own. Several entries of the same book are applied in
/// their order, as by `BookUpdates`.
private struct BookMoves {
    struct Entry {
        let book: UUID
        /// The shelf that the book joins.
        let target: UUID
        /// The shelf that the book leaves; nil for all others.
        let origin: UUID?

        init(book: UUID, _ input: InputObject) throws(BookplateError) {
            self.book = book
            target = try input.id("to", else: .noSuchShelf)
            origin =
                input.text("from") == nil ? nil : try input.id("from", else: .noSuchShelf)
        }
    }

    private let entries: [Entry]
    private let rounds: [[Int]]

    init(_ entries: [Entry]) {
        self.entries = entries
        rounds = roundsWithoutRepetitions(of: entries.map(\.book))
    }

    /// - Returns: The keys to pass to `outcomes`.
    func append(to pipeline: inout Pipeline, for viewer: Viewer) -> [ResultKey<Row>] {
        rounds.map { round in
            var parameters = Parameters.of(viewer.userID)
            parameters.append(uuids: round.map { entries[$0].book })
            parameters.append(uuids: round.map { entries[$0].target })
            parameters.appendArray(of: .uuid) { origins in
                for index in round { origins.append(uuid: entries[index].origin) }
            }
            return pipeline.append(Self.move, parameters)
        }
    }

    struct Outcome {
        let error: BookplateError?
        let payload: PlainObject
    }

    /// Returns the outcome of each entry.
    func outcomes(_ results: PipelineResults, _ keys: [ResultKey<Row>]) -> [Outcome] {
        var outcomes = entries.map { _ in Outcome(error: .internalError, payload: PlainObject()) }
        for (round, key) in zip(rounds, keys) {
            for (index, row) in zip(round, results[key]) {
                let error: BookplateError? =
                    !row.hasBook
                    ? .notFound(.noSuchBook)
                    : row.hasTarget ? nil : .notFound(.noSuchShelf)
                outcomes[index] = Outcome(
                    error: error,
                    payload: PlainObject(ids: [
                        "book": [entries[index].book], "leftShelves": row.leftShelves,
                        "joinedShelf": [entries[index].target],
                    ]))
            }
        }
        return outcomes
    }

    struct Row: RowDecodable {
        let hasBook: Bool
        let hasTarget: Bool
        let leftShelves: [UUID]

        init?(_ row: inout RowReader) {
            guard let hasBook = row.bool(), let hasTarget = row.bool() else { return nil }
            self.hasBook = hasBook
            self.hasTarget = hasTarget
            leftShelves = row.uuids() ?? []
        }
    }

    /// Puts the books `$2` of the reader `$1` on the shelves `$3`, and removes them from the shelves `$4`, or from all others for
    /// NULL. No book is repeated. Returns for each entry, in order, whether the book and the shelf exist, and the shelves
    /// from which the book was removed.
    private static let move = TypedStatement<Row>(
        """
        WITH input AS MATERIALIZED (
            SELECT
                i.*,
                b.added_at,
                b.sort_title,
                b.sort_author,
                b.id IS NOT NULL AS has_book,
                EXISTS (SELECT FROM shelves s WHERE s.user_id = $1 AND s.id = i.target_id) AS has_target
            FROM unnest($2::uuid[], $3::uuid[], $4::uuid[])
                WITH ORDINALITY AS i (book_id, target_id, origin_id, n)
            LEFT JOIN LATERAL (
                SELECT b.book_id AS id, b.added_at, b.sort_title, b.sort_author
                FROM listed_books b
                WHERE b.user_id = $1 AND b.book_id = i.book_id
                OFFSET 0
            ) b ON true
        ), added AS (
            INSERT INTO shelf_books (user_id, shelf_id, book_id, added_at, sort_title, sort_author)
            SELECT $1, target_id, book_id, added_at, sort_title, sort_author
            FROM input
            WHERE has_book AND has_target
            ON CONFLICT DO NOTHING
        ), removed AS (
            DELETE FROM shelf_books sb
            USING input i
            WHERE sb.user_id = $1
                -- Without the array, PostgreSQL reads all shelved books of the reader.
                AND sb.book_id = ANY($2)
                AND sb.book_id = i.book_id
                AND i.has_target
                AND sb.shelf_id <> i.target_id
                AND (i.origin_id IS NULL OR sb.shelf_id = i.origin_id)
            RETURNING sb.book_id, sb.shelf_id
        )
        SELECT
            i.has_book,
            i.has_target,
            ARRAY(SELECT r.shelf_id FROM removed r WHERE r.book_id = i.book_id)
        FROM input i
        ORDER BY i.n
        """)
}
