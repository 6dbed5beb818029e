import GraphQL
import Postgres
import Synchronization

extension Book {
    static let noSuchBook = "There is no such book in the library."
    /// Entries of one `createBooks`.
    static let creationsMax = 50

    static let create = RowMutation(type) { arguments, request, book throws(BookplateError) in
        let creation = try BookCreation(InputObject(arguments["input"]))
        let canAsk = !request.services.bookSources.names.isEmpty
        let canSearch = !request.services.coverSources.isEmpty
        func attempt() async throws(BookplateError) -> [Rows] {
            try await request.write { segment, viewer in
                creation.append(to: &segment, for: viewer, canSearch: canSearch)
                book.append([creation.id], to: &segment, for: viewer)
                creation.appendCompletion(to: &segment, for: viewer, canAsk: canAsk)
                if creation.wantsCover, canSearch { segment.enqueueCoverSearches() }
            }
        }
        var rows = try await attempt()
        switch creation.outcome(rows[0]) {
        case .unknownISBN(let isbn):
            guard try await OutsideEditions.fetch([isbn], for: request).isEmpty else {
                throw .upstreamUnavailable(OutsideEditions.unavailable)
            }
            rows = try await attempt()
        case .overtaken: rows = try await attempt()
        case .book, .refused: break
        }
        _ = try creation.outcome(rows[0]).book()
        return try book.only(rows[1], orElse: noSuchBook)
    }

    static let createMany = PlainMutation(.many) { arguments, request throws(BookplateError) in
        let inputs = arguments["inputs"]?.list ?? []
        guard inputs.count <= creationsMax else {
            throw .badUserInput(field: "inputs", "At most \(creationsMax) books at once.")
        }
        let creations = inputs.map { input in
            Result { () throws(BookplateError) in try BookCreation(InputObject(input)) }
        }
        /// What became of the entries at these places.
        func attempt(_ places: [Int]) async throws(BookplateError) -> [Int: BookCreation.Outcome] {
            let entries = places.compactMap { place in
                (try? creations[place].get()).map { (place: place, creation: $0) }
            }
            guard !entries.isEmpty else { return [:] }
            let canAsk = !request.services.bookSources.names.isEmpty
            let canSearch = !request.services.coverSources.isEmpty
            let rows = try await request.write { segment, viewer in
                for entry in entries {
                    entry.creation.append(to: &segment, for: viewer, canSearch: canSearch)
                }
                for entry in entries {
                    entry.creation.appendCompletion(to: &segment, for: viewer, canAsk: canAsk)
                }
                if canSearch, entries.contains(where: \.creation.wantsCover) {
                    segment.enqueueCoverSearches()
                }
            }
            return Dictionary(
                uniqueKeysWithValues: zip(entries, rows).map { entry, rows in
                    (entry.place, entry.creation.outcome(rows))
                })
        }
        var outcomes = try await attempt(Array(creations.indices))
        var unknown: [Int: ISBN] = [:]
        var again: [Int] = []
        for (place, outcome) in outcomes {
            switch outcome {
            case .unknownISBN(let isbn): unknown[place] = isbn
            case .overtaken: again.append(place)
            case .book, .refused: break
            }
        }
        let unavailable = try await OutsideEditions.fetch(
            Array(Set(unknown.values)), for: request)
        again += unknown.filter { !unavailable.contains($0.value) }.keys
        outcomes.merge(try await attempt(again.sorted())) { $1 }
        return creations.enumerated().map { place, creation in
            do throws(BookplateError) {
                _ = try creation.get()
                if let isbn = unknown[place], unavailable.contains(isbn) {
                    throw .upstreamUnavailable(OutsideEditions.unavailable)
                }
                guard let outcome = outcomes[place] else { throw .internalError }
                return PlainObject(ids: ["book": [try outcome.book()]])
            } catch {
                return PlainObject(objects: ["error": [error.inputError]])
            }
        }
    }

    static let update = RowMutation(type) { arguments, request, book throws(BookplateError) in
        let id = try arguments.id("id", else: noSuchBook)
        let update = try BookUpdate(InputObject(arguments["input"]))
        let rows: [Rows]
        do throws(BookplateError) {
            rows = try await request.write { segment, viewer in
                update.append(to: &segment, for: viewer, book: id)
                if let isbn = update.isbn, !request.services.bookSources.names.isEmpty {
                    segment.enqueueCompletion(of: isbn, for: viewer)
                }
                book.append([id], to: &segment, for: viewer)
            }
        } catch .conflict(let message, id: nil, let field) {
            guard let isbn = update.isbn else { throw .conflict(message, field: field) }
            // Which book has it is asked when it is known that one has.
            let other = try await request.read { segment, viewer in
                var parameters = Parameters.of(viewer.userID, id)
                parameters.append(text: isbn.description)
                segment.append(findSame, parameters)
            }[0]
            throw .conflict(message, id: other.uuid(0, 0)?.description, field: field)
        }
        return try book.only(rows[rows.count - 1], orElse: noSuchBook)
    }

    static let move = RowMutation(type) { arguments, request, book throws(BookplateError) in
        let id = try arguments.id("id", else: noSuchBook)
        let target = try arguments.id("to", else: Shelf.noSuchShelf)
        let origin: UUID? =
            arguments["from"]?.string == nil
            ? nil : try arguments.id("from", else: Shelf.noSuchShelf)
        let rows = try await request.write { segment, viewer in
            var parameters = Parameters.of(viewer.userID, id, target)
            parameters.append(uuid: origin)
            segment.append(place, .of(viewer.userID, id, target))
            segment.append(takeFromOthers, parameters)
            book.append([id], to: &segment, for: viewer)
        }
        return try book.only(rows[2], orElse: noSuchBook)
    }

    /// Answers the id also when there is no such book, so that it can be sent again.
    static let delete = LeafMutation { arguments, request throws(BookplateError) in
        let id = try arguments.id("id", else: noSuchBook)
        let rows = try await request.write { segment, viewer in
            segment.append(deleteBook, .of(viewer.userID, id))
            segment.appendRemovedCovers(of: viewer.userID)
        }
        await request.removeCovers(rows[1])
        await request.removeTitleCards(of: rows[0])
        return .string(id.description)
    }

    // MARK: - Statements

    private static let findSame = Statement(
        """
        SELECT id FROM books WHERE user_id = $1 AND id <> $2 AND (isbn13 = $3 \
        OR edition_id = (SELECT e.id FROM editions e WHERE e.isbn13 = $3)) LIMIT 1
        """)

    /// The foreign key refuses a shelf that is not there; a book that is not there gives no row.
    private static let place = Statement(
        """
        INSERT INTO shelf_books (user_id, shelf_id, book_id, added_at) \
        SELECT $1, $3, id, added_at FROM books WHERE user_id = $1 AND id = $2 \
        ON CONFLICT DO NOTHING
        """)

    private static let takeFromOthers = Statement(
        """
        DELETE FROM shelf_books WHERE user_id = $1 AND book_id = $2 AND shelf_id <> $3 \
        AND ($4 IS NULL OR shelf_id = $4)
        """)

    private static let deleteBook = Statement(
        "DELETE FROM books WHERE user_id = $1 AND id = $2 RETURNING id, title, author, genre")
}

extension BookCreation.Outcome {
    /// The book's id.
    fileprivate func book() throws(BookplateError) -> UUID {
        switch self {
        case .book(let id): return id
        case .refused(let error): throw error
        case .unknownISBN: throw .notFound(BookCreation.unknown)
        case .overtaken: throw .conflict(BookCreation.isThere)
        }
    }
}

extension BookplateError {
    /// The error as `InputError` of a bulk mutation.
    var inputError: PlainObject {
        var leaves: [String: Value] = ["code": .string(code), "message": .string(message)]
        if let field { leaves["field"] = .string(field) }
        return PlainObject(leaves: leaves)
    }
}

/// What changes of a book: absent stays, null clears.
struct BookUpdate {
    private var assignments: [String] = []
    private var bind: [(inout Parameters) -> Void] = []
    private var shelfIDs: [UUID]?
    /// The new ISBN.
    private(set) var isbn: ISBN?

    /// - Throws: `.badUserInput` naming the field.
    init(_ input: InputObject) throws(BookplateError) {
        if input.isGiven("title") {
            let title = try TextInput.line(
                input.text("title") ?? "", field: "title",
                charactersMax: BookCreation.titleCharactersMax)
            set("title = $?") { $0.append(text: title) }
        }
        try setText(
            "author", of: input, charactersMax: BookCreation.authorCharactersMax)
        try setText(
            "category", of: input, charactersMax: BookCreation.labelCharactersMax)
        try setText("genre", of: input, charactersMax: BookCreation.labelCharactersMax)
        if input.isGiven("isbn") {
            let isbn = try ISBN.optional(input.text("isbn"))
            self.isbn = isbn
            set("isbn13 = $?") { $0.append(text: isbn?.description) }
            if let isbn {
                // The catalogue's card follows the ISBN.
                set("edition_id = (SELECT e.id FROM editions e WHERE e.isbn13 = $?)") {
                    $0.append(text: isbn.description)
                }
            }
        }
        if input.isGiven("status") {
            guard let status = input.text("status") else {
                throw .badUserInput(field: "status", "A book always has a status.")
            }
            set("status = $?::reading_status") { $0.append(text: status, as: .inferred) }
            // Saying the same again changes no date.
            switch status {
            case "READING":
                set("started_at = CASE WHEN status = 'READING' THEN started_at ELSE now() END")
            case "READ":
                set("finished_at = CASE WHEN status = 'READ' THEN finished_at ELSE now() END")
            default: break
            }
        }
        if input.isGiven("currentPage") {
            let page = input["currentPage"] == .null ? nil : try input.index("currentPage")
            set("current_page = $?") { $0.append(int32: page) }
        }
        if input.isGiven("shelfIds") {
            shelfIDs =
                try input.ids("shelfIds", max: BookCreation.shelvesMax, else: Shelf.noSuchShelf)
                ?? []
        }
    }

    private mutating func setText(
        _ name: String, of input: InputObject, charactersMax: Int
    ) throws(BookplateError) {
        guard input.isGiven(name) else { return }
        let text = try TextInput.optional(
            input.text(name), field: name, charactersMax: charactersMax)
        set("\(name) = $?") { $0.append(text: text) }
    }

    /// Adds an assignment; `$?` becomes the number of the parameter that `bind` appends.
    private mutating func set(_ assignment: String, _ bind: ((inout Parameters) -> Void)? = nil) {
        guard let bind else {
            assignments.append(assignment)
            return
        }
        self.bind.append(bind)
        // The caller is $1, the book $2.
        let parts = assignment.split(separator: "$?", omittingEmptySubsequences: false)
        assignments.append(parts.joined(separator: "$\(2 + self.bind.count)"))
    }

    func append(to segment: inout Pipeline, for viewer: Viewer, book id: UUID) {
        if !assignments.isEmpty {
            var parameters = Parameters.of(viewer.userID, id)
            for bind in bind { bind(&parameters) }
            segment.append(Self.statement(assignments), parameters)
        }
        if let shelfIDs {
            var parameters = Parameters.of(viewer.userID, id)
            parameters.append(uuids: shelfIDs)
            segment.append(Self.placeOnShelves, parameters)
            segment.append(Self.takeFromShelves, parameters)
        }
    }

    /// Statements by their assignments, of which there are as many as sets of input fields.
    private static let statements = Mutex<[[String]: Statement]>([:])

    private static func statement(_ assignments: [String]) -> Statement {
        statements.withLock { statements in
            if let statement = statements[assignments] { return statement }
            let statement = Statement(
                "UPDATE books SET \(assignments.joined(separator: ", ")), updated_at = now() "
                    + "WHERE user_id = $1 AND id = $2")
            statements[assignments] = statement
            return statement
        }
    }

    private static let placeOnShelves = Statement(
        """
        INSERT INTO shelf_books (user_id, shelf_id, book_id, added_at) \
        SELECT $1, w.id, b.id, b.added_at FROM books b, unnest($3::uuid[]) AS w (id) \
        WHERE b.user_id = $1 AND b.id = $2 ON CONFLICT DO NOTHING
        """)

    private static let takeFromShelves = Statement(
        """
        DELETE FROM shelf_books WHERE user_id = $1 AND book_id = $2 AND shelf_id <> ALL($3::uuid[])
        """)
}
