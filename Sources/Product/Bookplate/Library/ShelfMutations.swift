import GraphQL
import Postgres
import Requests

extension Shelf {
    package static let nameCharactersMax = 100
    static let descriptionCharactersMax = 1_000
    /// The maximum number of shelves in a library. They are limited because lists of shelves have no pages.
    package static let countMax = 500

    /// The maximum number of books that are deleted with their shelf: those of a library of the largest size that imports allow.
    static let deletedBooksMax = 50_000
    /// The number of books that one statement deletes, in about one second. More would exceed the statement timeout.
    private static let deletedBooksPerStatement = 5_000
    /// The time limit of a deletion. It is shorter than the server's response timeout.
    private static let deletionTimeout = Duration.seconds(25)

    static let create = RowMutation(type) { arguments, request, shelf throws(BookplateError) in
        let input = InputObject(arguments["input"])
        let id = try input.newID()
        let name = try TextInput.line(
            input.text("name") ?? "", field: "name", charactersMax: nameCharactersMax)
        let description = try description(input)
        let (results, sameNameKey) = try await request.write { pipeline, viewer in
            var parameters = Parameters.of(viewer.userID, id)
            parameters.append(text: name)
            let sameName = pipeline.append(findByName, parameters)
            parameters.append(text: description)
            parameters.append(text: input.text("color"), as: .inferred)
            pipeline.append(insert, parameters)
            shelf.append([id], to: &pipeline, for: viewer)
            return sameName
        }
        if results.last.count > 0 { return try shelf.only(results.last, orElse: .noSuchShelf) }
        if let other = results[sameNameKey].first {
            throw .conflict(
                .init(.nameTaken, value: name),
                id: other.description, field: "name")
        }
        let isTaken = try await request.read { pipeline, viewer in
            pipeline.append(isIDTaken, .of(viewer.userID, id))
        }
        if isTaken.first == true { throw ChosenID.takenError }
        throw .badUserInput(
            field: "input", .init(.limitReached, max: countMax))
    }

    static let update = RowMutation(type) { arguments, request, shelf throws(BookplateError) in
        let id = try arguments.id("id", else: .noSuchShelf)
        let input = InputObject(arguments["input"])
        let name: String? =
            try input.isGiven("name")
            ? TextInput.line(
                input.text("name") ?? "", field: "name", charactersMax: nameCharactersMax) : nil
        let description = try description(input)
        let position = try input.isGiven("position") ? input.index("position") : nil
        let isUpNext = input.isGiven("isUpNext") ? input["isUpNext"]?.boolean ?? false : nil
        let results: PipelineResults
        do throws(BookplateError) {
            (results, _) = try await request.write { pipeline, viewer in
                if isUpNext == true {
                    // Another device may choose another shelf at the same time.
                    pipeline.append(lock, .of(viewer.userID))
                    pipeline.append(endUpNext, .of(viewer.userID, id))
                }
                if name != nil || input.isGiven("description") || input.isGiven("color")
                    || isUpNext != nil
                {
                    var parameters = nameParameters(viewer, id, name)
                    parameters.append(bool: input.isGiven("description"))
                    parameters.append(text: description)
                    parameters.append(bool: input.isGiven("color"))
                    parameters.append(text: input.text("color"), as: .inferred)
                    parameters.append(bool: isUpNext)
                    pipeline.append(change, parameters)
                }
                if let position {
                    var parameters = Parameters.of(viewer.userID, id)
                    parameters.append(int32: position)
                    pipeline.append(reposition, parameters)
                }
                shelf.append([id], to: &pipeline, for: viewer)
            }
        } catch .conflict(_, id: nil, let field) {
            // Look up the shelf with the same name only after the unique constraint has failed.
            let others = try await request.read { pipeline, viewer in
                pipeline.append(findByName, nameParameters(viewer, id, name))
            }
            throw .conflict(
                .init(.nameTaken, value: name ?? ""), id: others.first?.description, field: field)
        }
        return try shelf.only(results.last, orElse: .noSuchShelf)
    }

    private static func description(_ input: InputObject) throws(BookplateError) -> String? {
        try TextInput.optional(
            input.text("description"), field: "description",
            charactersMax: descriptionCharactersMax)
    }

    /// Succeeds even if there is no such shelf, so that clients can retry the mutation.
    static let delete = PlainMutation(.one) { arguments, request throws(BookplateError) in
        let id = try arguments.id("id", else: .noSuchShelf)
        let input = InputObject(arguments["input"])
        let books = input.text("books") ?? "KEEP"
        var target: UUID?
        if books == "MOVE" {
            guard input.text("moveTo") != nil else {
                throw .badUserInput(
                    field: "moveTo",
                    .init(.required))
            }
            let moveTo = try input.id(
                "moveTo", else: .noSuchShelf)
            guard moveTo != id else {
                throw .badUserInput(
                    field: "moveTo",
                    .init(
                        .invalidChoice,
                        detail: "Books cannot be moved to the shelf that is being deleted."))
            }
            target = moveTo
        }
        let statements = books == "DELETE" ? try await deletionStatements(of: id, request) : 0
        let (results, keys) = try await request.write { [target] pipeline, viewer in
            if let target { pipeline.append(moveBooks, .of(viewer.userID, id, target)) }
            if statements > 1 { pipeline.timeout = deletionTimeout }
            let deletedBooks = (0..<statements).map { _ in
                pipeline.append(deleteBooks, .of(viewer.userID, id))
            }
            pipeline.append(deleteShelf, .of(viewer.userID, id))
            pipeline.append(closeGaps, .of(viewer.userID))
            let shelves = pipeline.append(shelvesInOrder, .of(viewer.userID))
            return (deletedBooks: deletedBooks, shelves: shelves)
        }
        for deletedBooks in keys.deletedBooks {
            await request.removeTitleCards(of: results[deletedBooks])
        }
        return [
            PlainObject(
                leaves: ["id": .string(id.description)], ids: ["shelves": results[keys.shelves]])
        ]
    }

    /// Returns the number of statements that delete the books on a shelf. There is room for books that are added meanwhile.
    ///
    /// - Throws: `.badUserInput` if there are more than `deletedBooksMax` books.
    private static func deletionStatements(
        of id: UUID, _ request: RequestContext
    ) async throws(BookplateError) -> Int {
        let counts = try await request.read { pipeline, viewer in
            pipeline.append(countBooks, .of(viewer.userID, id))
        }
        let count = Int(counts.first ?? 0)
        guard count <= deletedBooksMax else {
            throw .badUserInput(
                field: "books",
                .init(
                    .tooMany, max: Double(deletedBooksMax),
                    detail:
                        "The shelf has too many books to delete them with it. Keep them, or delete some first."
                )
            )
        }
        return 1 + count / deletedBooksPerStatement
    }

    static let deletePayloadFields: [String: FieldResolver] = [
        "id": .property, "shelves": .load(RowsOfPlainObject(.many, type)),
    ]

    // MARK: - Statements

    private static func nameParameters(_ viewer: Viewer, _ id: UUID, _ name: String?) -> Parameters
    {
        var parameters = Parameters.of(viewer.userID, id)
        parameters.append(text: name)
        return parameters
    }

    /// The condition that the id of a new shelf identifies another object.
    private static let isTaken = ChosenID.isTaken(
        in: [
            "books", "deleted_books", "reviews", "imports", "reads", "progress_entries", "notes",
        ])
    private static let isIDTaken = TypedStatement<Bool>("SELECT \(isTaken)")

    /// Adds a shelf at the end. Does nothing if the id or the name is taken, or if the library is full.
    private static let insert = Statement(
        """
        INSERT INTO shelves (user_id, id, name, position, description, color)
        SELECT $1, $2, $3, coalesce(max(position) + 1, 0), $4, $5::label_color
        FROM shelves
        WHERE user_id = $1
        HAVING count(*) < \(countMax) AND NOT (\(isTaken))
        ON CONFLICT DO NOTHING
        """)

    /// Returns the id of another shelf with this name.
    private static let findByName = TypedStatement<UUID>(
        """
        SELECT id
        FROM shelves
        WHERE user_id = $1 AND lower(name) = lower($3) AND id <> $2
        """)

    private static let lock = Statement("SELECT lock_user($1)")

    /// Makes the present queue an ordinary shelf, unless it is the shelf `$2`.
    private static let endUpNext = Statement(
        """
        UPDATE shelves
        SET is_up_next = false, updated_at = now()
        WHERE user_id = $1 AND is_up_next AND id <> $2
          AND EXISTS (SELECT FROM shelves t WHERE t.user_id = $1 AND t.id = $2)
        """)

    /// Changes the name if `$3` is not null, the description if `$4` is true, the color if `$6` is true, and whether the shelf is the queue
    /// if `$8` is not null.
    private static let change = Statement(
        """
        UPDATE shelves
        SET name = coalesce($3, name),
          description = CASE WHEN $4 THEN $5 ELSE description END,
          color = CASE WHEN $6 THEN $7::label_color ELSE color END,
          is_up_next = coalesce($8, is_up_next),
          updated_at = now()
        WHERE user_id = $1 AND id = $2
          AND (
            name <> coalesce($3, name)
            OR ($4 AND description IS DISTINCT FROM $5)
            OR ($6 AND color IS DISTINCT FROM $7::label_color)
            OR is_up_next <> coalesce($8, is_up_next)
          )
        """)

    /// Moves a shelf to a position, or to the end if the position is beyond it. The other shelves keep their order,
    /// and all positions become consecutive from 0.
    private static let reposition = Statement(
        """
        UPDATE shelves s
        SET position = moved.position, updated_at = now()
        FROM (
          SELECT
            id,
            CASE WHEN id = $2 THEN least($3, others) ELSE rank + (rank >= $3)::int END AS position
          FROM (
            -- The shelf that is moved comes last, so the ranks of the others have no gap.
            SELECT
              id,
              (row_number() OVER (ORDER BY id = $2, position, id) - 1)::int AS rank,
              (count(*) OVER () - 1)::int AS others
            FROM shelves
            WHERE user_id = $1
          ) ranked
        ) moved
        WHERE s.user_id = $1 AND s.id = moved.id AND s.position <> moved.position
          AND EXISTS (SELECT FROM shelves t WHERE t.user_id = $1 AND t.id = $2)
        """)

    private static let moveBooks = Statement(
        """
        INSERT INTO shelf_books (user_id, shelf_id, book_id, added_at, sort_title, sort_author)
        SELECT user_id, $3, book_id, added_at, sort_title, sort_author
        FROM shelf_books
        WHERE user_id = $1 AND shelf_id = $2
        -- The books keep their order, after those of the other shelf.
        ORDER BY position, book_id
        ON CONFLICT DO NOTHING
        """)

    private static let deleteBooks = TypedStatement<BookDeletion>(
        """
        SELECT book_id, title_card_version(title, author, genre), shelf_ids
        FROM delete_books(
          $1,
          ARRAY(
            SELECT sb.book_id
            FROM shelf_books sb
            WHERE sb.user_id = $1 AND sb.shelf_id = $2
            LIMIT \(deletedBooksPerStatement)
          )
        )
        """)

    private static let countBooks = TypedStatement<Int64>(
        "SELECT count(*) FROM shelf_books WHERE user_id = $1 AND shelf_id = $2")

    private static let deleteShelf = Statement("DELETE FROM shelves WHERE user_id = $1 AND id = $2")

    private static let shelvesInOrder = TypedStatement<UUID>(
        "SELECT id FROM shelves WHERE user_id = $1 ORDER BY position, id")

    /// Makes the positions of the shelves consecutive from 0.
    private static let closeGaps = Statement(
        """
        UPDATE shelves s
        SET position = ranked.position, updated_at = now()
        FROM (
          SELECT id, (row_number() OVER (ORDER BY position, id) - 1)::int AS position
          FROM shelves
          WHERE user_id = $1
        ) ranked
        WHERE s.user_id = $1 AND s.id = ranked.id AND s.position <> ranked.position
        """)
}
