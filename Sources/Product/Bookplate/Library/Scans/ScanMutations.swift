import GraphQL
import Postgres
import Requests

extension Scan {
    /// Looks up scanned ISBNs as `lookupISBNs` does, and adds the scans to the history.
    static let record = PlainMutation(.many) { arguments, request throws(BookplateError) in
        let entries = try await Batch.entries(
            of: arguments, max: ISBNListLookup.isbnsMax, in: request, NewScan.init)
        let scans = entries.compactMap { try? $0.get() }
        guard !scans.isEmpty else {
            return Batch.results(entries, [], in: request) { _ in PlainObject() }
        }
        let lookup = try await ISBNListLookup.lookUp(scans.map(\.isbn), request)
        let problems = try await request.write { pipeline, viewer in
            var parameters = Parameters.of(viewer.userID)
            parameters.append(
                jsonb: .list(scans.map { $0.json(lookup.outcome(of: $0.isbn)) }))
            let problems = pipeline.append(insert, parameters)
            var oldest = Parameters.of(viewer.userID)
            oldest.append(uuids: scans.map(\.id))
            pipeline.append(deleteOldest, oldest)
            return problems
        }
        let errors = problems.map { problem -> BookplateError? in
            switch problem.problem {
            case "DELETED": .notFound(.deleted)
            case "TAKEN": ChosenID.takenError
            default: nil
            }
        }
        return Batch.results(entries, errors, in: request) {
            PlainObject(ids: ["scan": [$0.id]])
        }
    }

    static let recordResultFields: [String: FieldResolver] = [
        "scan": .load(RowsOfPlainObject(.one, Scan.type)),
        "error": .load(PlainObjectsField(.one)),
    ]

    /// Succeeds even if there is no such scan, so that clients can retry the mutation.
    static let delete = PlainMutation(.one) { arguments, request throws(BookplateError) in
        let text = arguments["id"]?.string ?? ""
        // A text that is not a UUID is the id of no scan.
        if let id = UUID(text) {
            try await request.write { pipeline, viewer in
                pipeline.append(deleteScan, .of(viewer.userID, id))
            }
        }
        return [PlainObject(leaves: ["id": .string(text)])]
    }

    static let clear = PlainMutation(.one) { _, request throws(BookplateError) in
        let deleted = try await request.write { pipeline, viewer in
            pipeline.append(deleteAll, .of(viewer.userID))
        }
        return [PlainObject(leaves: ["deleted": .int(Int(deleted.first ?? 0))])]
    }

    /// An entry of the mutation `recordScans`.
    private struct NewScan {
        let id: UUID
        let isbn: ISBN
        let scannedAt: Instant?

        init(_ input: InputObject) throws(BookplateError) {
            id = try input.newID()
            guard let isbn = try ISBN.optional(input.text("isbn")) else {
                throw .badUserInput(field: "isbn", .init(.isbnLength))
            }
            self.isbn = isbn
            scannedAt = input.text("scannedAt").flatMap { Instant($0) }
        }

        /// The scan as an element of the parameter of `insert`.
        func json(_ outcome: ScanOutcome) -> Value {
            .object([
                .init("id", .string(id.description)), .init("isbn", .string(isbn.description)),
                .init("scannedAt", scannedAt.map { .string($0.preciseText) } ?? .null),
                .init("outcome", .string(outcome.rawValue)),
            ])
        }
    }

    // MARK: - Statements

    private struct Problem: RowDecodable {
        let problem: String?

        init?(_ row: inout RowReader) { problem = row.text() }
    }

    /// Adds the scans of a JSON list, and returns what is wrong with each of them, or null. A scan that the history has already keeps
    /// its time. Its outcome becomes better, but not worse: a source may have been down.
    private static let insert = TypedStatement<Problem>(
        """
        WITH given AS MATERIALIZED (
          SELECT
            g.id, g.isbn13, g.scanned_at, g.outcome, g.position,
            s.id IS NOT NULL AS is_known,
            s.id IS NULL AND EXISTS (SELECT FROM reading_tombstones t WHERE t.user_id = $1 AND t.id = g.id) AS is_deleted,
            coalesce(s.isbn13, first_value(g.isbn13) OVER (PARTITION BY g.id ORDER BY g.position)) AS stored_isbn13
          FROM ROWS FROM (
            jsonb_to_recordset($2) AS (id uuid, isbn text, "scannedAt" timestamptz, outcome scan_outcome)
          ) WITH ORDINALITY AS g (id, isbn13, scanned_at, outcome, position)
          LEFT JOIN scans s ON s.user_id = $1 AND s.id = g.id
        ), added AS (
          INSERT INTO scans (user_id, id, isbn13, scanned_at, outcome)
          SELECT DISTINCT ON (g.id) $1, g.id, g.isbn13, least(g.scanned_at, now()), g.outcome
          FROM given g
          WHERE NOT g.is_known AND NOT g.is_deleted
          ORDER BY g.id, g.position
          ON CONFLICT DO NOTHING
        ), changed AS (
          UPDATE scans s
          SET outcome = g.outcome
          FROM given g
          WHERE s.user_id = $1
            AND s.id = g.id
            AND s.isbn13 = g.isbn13
            AND (s.outcome, g.outcome) IN (('FAILED', 'UNKNOWN'), ('FAILED', 'FOUND'), ('UNKNOWN', 'FOUND'))
        )
        SELECT CASE WHEN is_deleted THEN 'DELETED' WHEN stored_isbn13 <> isbn13 THEN 'TAKEN' END
        FROM given
        ORDER BY position
        """)

    /// Deletes the scans that were recorded first, down to the maximum number, but not those of the request, whose ids are `$2`.
    private static let deleteOldest = Statement(
        """
        DELETE FROM scans
        WHERE user_id = $1
          AND id IN (
            SELECT s.id
            FROM scans s
            WHERE s.user_id = $1
            ORDER BY s.recorded_at DESC, s.scanned_at DESC, s.id
            OFFSET \(ofReaderMax)
          )
          AND id <> ALL($2)
        """)

    /// Records the id, so that a device that sends the scan again does not bring it back.
    private static let deleteScan = Statement(
        """
        WITH deleted AS (
          DELETE FROM scans
          WHERE user_id = $1 AND id = $2
          RETURNING id
        )
        SELECT record_deleted_id($1, id)
        FROM deleted
        """)

    /// Returns the number of deleted scans.
    private static let deleteAll = TypedStatement<Int32>(
        """
        WITH deleted AS (
          DELETE FROM scans
          WHERE user_id = $1
          RETURNING id
        )
        SELECT count(*)::int
        FROM deleted
        """)
}
