import Basics
import GraphQL
import GraphQLPostgres
import Postgres
import Requests

extension BookCopy {
    static let create = RowMutation(type) { arguments, request, copy throws(BookplateError) in
        let input = InputObject(arguments["input"])
        let id = try input.newID()
        let book = try input.id("bookId", else: .noSuchBook)
        let texts = try Texts(input)
        let (results, problem) = try await request.write { pipeline, viewer in
            var parameters = Parameters.of(viewer.userID, book, id)
            texts.append(to: &parameters)
            let problem = pipeline.append(insert, parameters)
            copy.append([id], to: &pipeline, for: viewer)
            return problem
        }
        switch results[problem].first?.problem {
        case "BOOK": throw .notFound(.noSuchBook)
        case "TAKEN": throw ChosenID.takenError
        case "DELETED": throw .notFound(.deleted)
        case "FULL": throw .badUserInput(field: "bookId", .init(.limitReached, max: ofBookMax))
        default: return try copy.only(results.last, orElse: .noSuchBook)
        }
    }

    static let update = RowMutation(type) { arguments, request, copy throws(BookplateError) in
        let id = try arguments.id("id", else: .noSuchCopy)
        let input = InputObject(arguments["input"])
        let texts = try Texts(input)
        let (results, _) = try await request.write { pipeline, viewer in
            var parameters = Parameters.of(viewer.userID, id)
            texts.append(to: &parameters)
            for name in ["format", "place", "note"] {
                parameters.append(bool: input.isGiven(name))
            }
            pipeline.append(change, parameters)
            copy.append([id], to: &pipeline, for: viewer)
        }
        return try copy.only(results.last, orElse: .noSuchCopy)
    }

    /// Succeeds even if there is no such copy, so that clients can retry the mutation.
    static let delete = PlainMutation(.one) { arguments, request throws(BookplateError) in
        let id = try arguments.id("id", else: .noSuchCopy)
        let books = try await request.write { pipeline, viewer in
            pipeline.append(deleteCopy, .of(viewer.userID, id))
        }
        return [
            PlainObject(
                leaves: ["id": .string(id.description)], ids: ["book": books.compactMap { $0.id }])
        ]
    }

    static let deletePayloadFields: [String: FieldResolver] = [
        "id": .property, "book": .load(RowsOfPlainObject(.one, Book.type)),
    ]

    static let lend = RowMutation(type) { arguments, request, copy throws(BookplateError) in
        let id = try arguments.id("id", else: .noSuchCopy)
        let input = InputObject(arguments["input"])
        let loan = try input.newID()
        let borrower = try TextInput.line(
            input.text("borrower") ?? "", field: "borrower", charactersMax: borrowerCharactersMax)
        let lentOn = try input.date("lentOn")
        let dueOn = try input.futureDate("dueOn")
        let (results, outcomes) = try await request.write { pipeline, viewer in
            var parameters = Parameters.of(viewer.userID, id, loan)
            parameters.append(text: borrower)
            parameters.append(text: lentOn?.text)
            parameters.append(text: dueOn?.text)
            parameters.append(bool: input.isGiven("dueOn"))
            let outcomes = pipeline.append(lendCopy, parameters)
            copy.append([id], to: &pipeline, for: viewer)
            return outcomes
        }
        if let outcome = results[outcomes].first, outcome.isRefused {
            throw .conflict(
                .init(.copyIsLent), id: outcome.otherLoan?.description, field: "id")
        }
        return try copy.only(results.last, orElse: .noSuchCopy)
    }

    /// Does nothing if the copy is not lent, so that clients can retry the mutation.
    static let takeBack = RowMutation(type) { arguments, request, copy throws(BookplateError) in
        let id = try arguments.id("id", else: .noSuchCopy)
        let input = InputObject(arguments["input"])
        let loan = input.text("loanId")
        // An id that is not a UUID is that of no loan.
        let loanID = loan.map { UUID($0) ?? UUID(high: 0, low: 0) }
        let returnedOn = try input.date("returnedOn")
        let (results, areReversed) = try await request.write { pipeline, viewer in
            var parameters = Parameters.of(viewer.userID, id)
            parameters.append(uuid: loanID)
            parameters.append(text: returnedOn?.text)
            let areReversed = pipeline.append(endLoan, parameters)
            copy.append([id], to: &pipeline, for: viewer)
            return areReversed
        }
        if results[areReversed].first == true {
            throw .badUserInput(field: "returnedOn", .init(.datesReversed))
        }
        return try copy.only(results.last, orElse: .noSuchCopy)
    }

    /// The texts of a copy. Empty texts are null.
    private struct Texts {
        let format: String?
        let place: String?
        let note: String?

        init(_ input: InputObject) throws(BookplateError) {
            format = try TextInput.optional(
                input.text("format"), field: "format", charactersMax: formatCharactersMax)
            place = try TextInput.optional(
                input.text("place"), field: "place", charactersMax: placeCharactersMax)
            note = try TextInput.optional(
                input.text("note"), field: "note", charactersMax: noteCharactersMax)
        }

        func append(to parameters: inout Parameters) {
            parameters.append(text: format)
            parameters.append(text: place)
            parameters.append(text: note)
        }
    }

    // MARK: - Statements

    private struct Problem: RowDecodable {
        let problem: String?

        init?(_ row: inout RowReader) { problem = row.text() }
    }

    /// Adds a copy, and returns what is wrong with it, or null. A copy that the book has already is not added again.
    private static let insert = TypedStatement<Problem>(
        """
        WITH given AS MATERIALIZED (
          SELECT
            b.id,
            k.book_id AS kept_book,
            EXISTS (SELECT FROM reading_tombstones t WHERE t.user_id = $1 AND t.id = $3) AS is_deleted,
            (SELECT count(*) FROM book_copies o WHERE o.user_id = $1 AND o.book_id = $2) AS copies
          FROM (SELECT) n
          LEFT JOIN books b ON b.user_id = $1 AND b.id = $2
          LEFT JOIN book_copies k ON k.user_id = $1 AND k.id = $3
        ), added AS (
          INSERT INTO book_copies (user_id, id, book_id, format, place, note)
          SELECT $1, $3, id, $4, $5, $6
          FROM given
          WHERE id IS NOT NULL AND kept_book IS NULL AND NOT is_deleted AND copies < \(ofBookMax)
          ON CONFLICT DO NOTHING
        )
        SELECT CASE
          WHEN id IS NULL THEN 'BOOK'
          WHEN kept_book <> id THEN 'TAKEN'
          WHEN kept_book IS NOT NULL THEN NULL
          WHEN is_deleted THEN 'DELETED'
          WHEN copies >= \(ofBookMax) THEN 'FULL'
        END
        FROM given
        """)

    /// Changes the texts whose flags are true.
    private static let change = Statement(
        """
        UPDATE book_copies
        SET format = CASE WHEN $6 THEN $3 ELSE format END,
          place = CASE WHEN $7 THEN $4 ELSE place END,
          note = CASE WHEN $8 THEN $5 ELSE note END,
          updated_at = now()
        WHERE user_id = $1 AND id = $2
          AND (
            ($6 AND format IS DISTINCT FROM $3)
            OR ($7 AND place IS DISTINCT FROM $4)
            OR ($8 AND note IS DISTINCT FROM $5)
          )
        """)

    private static let deleteCopy = TypedStatement<ParentOfDeleted>("SELECT delete_copy($1, $2)")

    /// The day in the time zone of the reader.
    private static let today = """
        (
            SELECT to_char(now() AT TIME ZONE known_zone(u.time_zone), 'YYYY-MM-DD')
            FROM users u
            WHERE u.id = $1
        )
        """

    private struct LoanOutcome: RowDecodable {
        /// Whether the copy is lent already.
        let isRefused: Bool
        /// The loan that has not ended.
        let otherLoan: UUID?

        init?(_ row: inout RowReader) {
            guard let isRefused = row.bool() else { return nil }
            self.isRefused = isRefused
            otherLoan = row.uuid()
        }
    }

    /// Lends a copy that is not lent, or changes the loan `$3`. Does nothing if this loan has ended: the request is a repeated one.
    private static let lendCopy = TypedStatement<LoanOutcome>(
        """
        WITH kept AS MATERIALIZED (
          SELECT
            c.loan_id,
            EXISTS (
              SELECT
              FROM jsonb_array_elements(c.past_loans) p
              WHERE (p ->> 'id')::uuid = $3
            ) AS has_ended
          FROM book_copies c
          WHERE c.user_id = $1 AND c.id = $2
        ), lent AS (
          UPDATE book_copies c
          SET loan_id = $3,
            borrower = $4,
            lent_on = coalesce($5, c.lent_on, \(today)),
            due_on = CASE WHEN $7 THEN $6 ELSE c.due_on END,
            updated_at = now()
          FROM kept k
          WHERE c.user_id = $1
            AND c.id = $2
            AND NOT k.has_ended
            AND (c.loan_id IS NULL OR c.loan_id = $3)
            AND (c.loan_id IS NULL OR c.borrower <> $4 OR c.lent_on <> $5 OR ($7 AND c.due_on IS DISTINCT FROM $6))
          RETURNING c.id
        )
        SELECT
          NOT k.has_ended AND k.loan_id IS DISTINCT FROM $3 AND NOT EXISTS (SELECT FROM lent),
          k.loan_id
        FROM kept k
        """)

    /// Ends the loan of a copy, only the loan `$3` if it is not null, unless the day `$4` is before the first day of the loan. Returns
    /// whether it is; no row if there is no such loan. Without `$4`, the loan ends today, but not before its first day.
    private static let endLoan = TypedStatement<Bool>(
        """
        WITH kept AS MATERIALIZED (
          SELECT c.lent_on, coalesce(NOT are_dates_in_order(c.lent_on, $4), false) AS is_reversed
          FROM book_copies c
          WHERE c.user_id = $1 AND c.id = $2 AND c.loan_id IS NOT NULL AND ($3 IS NULL OR c.loan_id = $3)
        ), ended AS (
          UPDATE book_copies c
          SET past_loans = jsonb_path_query_array(
              jsonb_build_array(
                loan_of_copy(c) || jsonb_build_object(
                  'returnedOn', coalesce($4, greatest(\(today) COLLATE "C", k.lent_on))
                )
              ) || c.past_loans,
              '$[0 to \(pastLoansMax - 1)]'
            ),
            loan_id = NULL,
            borrower = NULL,
            lent_on = NULL,
            due_on = NULL,
            updated_at = now()
          FROM kept k
          WHERE c.user_id = $1 AND c.id = $2 AND NOT k.is_reversed
        )
        SELECT k.is_reversed
        FROM kept k
        """)
}

extension InputObject {
    /// Returns a date, which may be in the future; nil if the field is absent or null.
    func futureDate(_ name: String) throws(BookplateError) -> PartialDate? {
        guard let text = text(name) else { return nil }
        guard let date = PartialDate(text) else {
            throw .badUserInput(field: name, .init(.invalidDate))
        }
        return date
    }
}
