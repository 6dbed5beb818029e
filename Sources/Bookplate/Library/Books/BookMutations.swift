import GraphQL
import Postgres

extension Book {
    static let noSuchBook = "There is no such book in the library."
    /// The maximum number of entries of one `createBooks`.
    static let creationsMax = 50

    static let create = RowMutation(type) { arguments, request, book throws(BookplateError) in
        let creation = try BookCreation(InputObject(arguments["input"]))
        let hasBookSources = !request.services.bookSources.names.isEmpty
        let hasCoverSources = !request.services.coverSources.isEmpty
        func attempt() async throws(BookplateError) -> (outcome: BookCreation.Outcome, row: Rows) {
            let (results, insertion) = try await request.write { pipeline, viewer in
                let insertion = creation.append(
                    to: &pipeline, for: viewer, hasCoverSources: hasCoverSources)
                creation.appendCompletion(
                    to: &pipeline, for: viewer, hasBookSources: hasBookSources)
                if creation.fetchesCover, hasCoverSources { pipeline.enqueueCoverSearches() }
                pipeline.replaceDeckSoon(of: viewer.userID)
                book.append([creation.id], to: &pipeline, for: viewer)
                return insertion
            }
            return (creation.outcome(results[insertion]), results.last)
        }
        var (outcome, row) = try await attempt()
        switch outcome {
        case .unknownISBN(let isbn):
            guard try await ExternalEditions.fetch([isbn], for: request).isEmpty else {
                throw .upstreamUnavailable(ExternalEditions.unavailable)
            }
            (outcome, row) = try await attempt()
        case .lostRace: (outcome, row) = try await attempt()
        case .book, .rejected: break
        }
        _ = try outcome.book()
        return try book.only(row, orElse: noSuchBook)
    }

    static let createMany = PlainMutation(.many) { arguments, request throws(BookplateError) in
        let inputs = arguments["inputs"]?.list ?? []
        guard inputs.count <= creationsMax else {
            throw .badUserInput(field: "inputs", "At most \(creationsMax) books at once.")
        }
        let creations = inputs.map { input in
            Result { () throws(BookplateError) in try BookCreation(InputObject(input)) }
        }
        var outcomes = try await attempt(creations, Array(creations.indices), in: request)
        var unknownISBNs: [Int: ISBN] = [:]
        var indicesToRetry: [Int] = []
        for (index, outcome) in outcomes {
            switch outcome {
            case .unknownISBN(let isbn): unknownISBNs[index] = isbn
            case .lostRace: indicesToRetry.append(index)
            case .book, .rejected: break
            }
        }
        let unavailable = try await ExternalEditions.fetch(
            Array(Set(unknownISBNs.values)), for: request)
        indicesToRetry += unknownISBNs.filter { !unavailable.contains($0.value) }.keys
        let retried = try await attempt(creations, indicesToRetry.sorted(), in: request)
        outcomes.merge(retried) { $1 }
        return creations.enumerated().map { index, creation in
            do throws(BookplateError) {
                _ = try creation.get()
                if let isbn = unknownISBNs[index], unavailable.contains(isbn) {
                    throw .upstreamUnavailable(ExternalEditions.unavailable)
                }
                guard let outcome = outcomes[index] else { throw .internalError }
                return PlainObject(ids: ["book": [try outcome.book()]])
            } catch {
                return PlainObject(objects: ["error": [error.inputError]])
            }
        }
    }

    /// Tries to create the valid books at some indices, in one transaction.
    ///
    /// - Returns: The outcomes, by index.
    private static func attempt(
        _ creations: [Result<BookCreation, BookplateError>], _ indices: [Int],
        in request: RequestContext
    ) async throws(BookplateError) -> [Int: BookCreation.Outcome] {
        let entries = indices.compactMap { index in
            (try? creations[index].get()).map { (index: index, creation: $0) }
        }
        guard !entries.isEmpty else { return [:] }
        let hasBookSources = !request.services.bookSources.names.isEmpty
        let hasCoverSources = !request.services.coverSources.isEmpty
        let (results, insertions) = try await request.write { pipeline, viewer in
            let insertions = entries.map { entry in
                entry.creation.append(
                    to: &pipeline, for: viewer, hasCoverSources: hasCoverSources)
            }
            for entry in entries {
                entry.creation.appendCompletion(
                    to: &pipeline, for: viewer, hasBookSources: hasBookSources)
            }
            if hasCoverSources, entries.contains(where: \.creation.fetchesCover) {
                pipeline.enqueueCoverSearches()
            }
            pipeline.replaceDeckSoon(of: viewer.userID)
            return insertions
        }
        return Dictionary(
            uniqueKeysWithValues: zip(entries, insertions).map { entry, insertion in
                (entry.index, entry.creation.outcome(results[insertion]))
            })
    }

    static let update = RowMutation(type) { arguments, request, book throws(BookplateError) in
        let id = try arguments.id("id", else: noSuchBook)
        let update = try BookUpdate(InputObject(arguments["input"]))
        let results: PipelineResults
        do throws(BookplateError) {
            (results, _) = try await request.write { pipeline, viewer in
                let returning = update.isOneStatement ? book.returning : nil
                update.append(to: &pipeline, for: viewer, book: id, returning: returning)
                guard returning == nil else { return }
                if update.changesFeed { pipeline.replaceDeckSoon(of: viewer.userID) }
                if let isbn = update.isbn, !request.services.bookSources.names.isEmpty {
                    pipeline.enqueueCompletion(of: isbn, for: viewer)
                }
                book.append([id], to: &pipeline, for: viewer)
            }
        } catch .conflict(let message, id: nil, let field) {
            guard let isbn = update.isbn else { throw .conflict(message, field: field) }
            // Look up the book with the same ISBN only after the unique constraint has failed.
            let others = try await request.read { pipeline, viewer in
                var parameters = Parameters.of(viewer.userID, id)
                parameters.append(text: isbn.description)
                return pipeline.append(findSameBook, parameters)
            }
            throw .conflict(message, id: others.first?.description, field: field)
        }
        return try book.only(results.last, orElse: noSuchBook)
    }

    static let move = PlainMutation(.one) { arguments, request throws(BookplateError) in
        let id = try arguments.id("id", else: noSuchBook)
        let input = try arguments.input(replacing: ["to", "from"], required: "to")
        let target = try input.id("to", else: Shelf.noSuchShelf)
        let origin: UUID? =
            input.text("from") == nil ? nil : try input.id("from", else: Shelf.noSuchShelf)
        let (results, keys) = try await request.write { pipeline, viewer in
            let book = pipeline.append(addToShelf, .of(viewer.userID, id, target))
            var parameters = Parameters.of(viewer.userID, id, target)
            parameters.append(uuid: origin)
            let leftShelves = pipeline.append(removeFromOtherShelves, parameters)
            return (book: book, leftShelves: leftShelves)
        }
        guard let book = results[keys.book].first else { throw .notFound(noSuchBook) }
        return [
            PlainObject(ids: [
                "book": [book], "leftShelves": results[keys.leftShelves], "joinedShelf": [target],
            ])
        ]
    }

    static let movePayloadFields: [String: FieldResolver] = [
        "book": .load(RowsOfPlainObject(.one, type)),
        "leftShelves": .load(RowsOfPlainObject(.many, Shelf.type)),
        "joinedShelf": .load(RowsOfPlainObject(.one, Shelf.type)),
    ]

    /// Succeeds even if there is no such book, so that clients can retry the mutation.
    static let delete = PlainMutation(.one) { arguments, request throws(BookplateError) in
        let id = try arguments.id("id", else: noSuchBook)
        let (results, keys) = try await request.write { pipeline, viewer in
            let shelves = pipeline.append(shelvesOfBook, .of(viewer.userID, id))
            let deletedBooks = pipeline.appendForRows(deleteBook, .of(viewer.userID, id))
            pipeline.replaceDeckSoon(of: viewer.userID)
            pipeline.appendRemovedCovers(of: viewer.userID)
            return (shelves: shelves, deletedBooks: deletedBooks)
        }
        await request.removeCovers(results.last)
        await request.removeTitleCards(of: results[keys.deletedBooks])
        return [
            PlainObject(
                leaves: ["id": .string(id.description)], ids: ["shelves": results[keys.shelves]])
        ]
    }

    // MARK: - Statements

    private static let findSameBook = TypedStatement<UUID>(
        """
        SELECT id
        FROM books
        WHERE user_id = $1 AND id <> $2
          AND (isbn13 = $3 OR edition_id = (SELECT e.id FROM editions e WHERE e.isbn13 = $3))
        LIMIT 1
        """)

    /// Returns the book's id. Fails with a foreign key error if there is no such shelf. Returns nothing if there is no such
    /// book.
    private static let addToShelf = TypedStatement<UUID>(
        """
        WITH book AS (
            SELECT id, added_at
            FROM books
            WHERE user_id = $1 AND id = $2
        ), added AS (
            INSERT INTO shelf_books (user_id, shelf_id, book_id, added_at)
            SELECT $1, $3, id, added_at
            FROM book
            ON CONFLICT DO NOTHING
        )
        SELECT id
        FROM book
        """)

    /// Removes the book from the shelf `$4`, or from all shelves but `$3` if `$4` is NULL. Returns the shelves.
    private static let removeFromOtherShelves = TypedStatement<UUID>(
        """
        DELETE FROM shelf_books
        WHERE user_id = $1 AND book_id = $2 AND shelf_id <> $3
          AND ($4 IS NULL OR shelf_id = $4)
        RETURNING shelf_id
        """)

    private static let shelvesOfBook = TypedStatement<UUID>(
        "SELECT shelf_id FROM shelf_books WHERE user_id = $1 AND book_id = $2")

    private static let deleteBook = Statement(
        """
        DELETE FROM books
        WHERE user_id = $1 AND id = $2
        RETURNING id, title, author, genre
        """)
}

extension BookCreation.Outcome {
    /// The book's id.
    fileprivate func book() throws(BookplateError) -> UUID {
        switch self {
        case .book(let id): return id
        case .rejected(let error): throw error
        case .unknownISBN: throw .notFound(BookCreation.unknownISBN)
        case .lostRace: throw .conflict(BookCreation.alreadyInLibrary)
        }
    }
}

extension BookplateError {
    /// The error as an object of the schema's type `InputError`.
    var inputError: PlainObject {
        var leaves: [String: Value] = ["code": .string(code), "message": .string(message)]
        if let field { leaves["field"] = .string(field) }
        if case .conflict(_, let id?, _) = self { leaves["id"] = .string(id) }
        return PlainObject(leaves: leaves)
    }
}
