import GraphQL
import Postgres
import Requests
import Synchronization

/// The fields of a book to change. Fields that the input does not have are unchanged; null removes a value.
struct BookUpdate {
    /// A new value of a column.
    private struct Assignment {
        let column: String
        let value: Value
        /// The type of the column if PostgreSQL cannot infer it from the parameter.
        var type: String?
        /// Appends the value as a parameter.
        let bind: (inout Parameters) -> Void
    }

    private var assignments: [Assignment] = []
    private var shelfIDs: [UUID]?
    /// Whether the book may be another one of the catalog now.
    let changesWork: Bool
    /// Whether the update changes what the feed learns from the book. The difference between the other statuses is small, and
    /// counts from the next deck.
    var changesFeed: Bool { changesWork || isAbandoned }
    private var isAbandoned = false
    /// The new ISBN.
    private(set) var isbn: ISBN?

    /// - Throws: `.badUserInput` with the name of the field.
    init(_ input: InputObject) throws(BookplateError) {
        changesWork = ["title", "authors", "isbn", "cardId"].contains {
            input.isGiven($0)
        }
        if input.isGiven("title") {
            set(
                "title",
                try TextInput.line(
                    input.text("title") ?? "", field: "title",
                    charactersMax: BookCreation.titleCharactersMax))
        }
        if let authors = try BookAuthors(input) {
            set("authors", authors.names, as: "text[]")
            set("author_roles", authors.roles, as: "author_role[]")
        }
        try setText("category", of: input, charactersMax: BookCreation.labelCharactersMax)
        try setText("genre", of: input, charactersMax: BookCreation.labelCharactersMax)
        try setText("binding", of: input, charactersMax: ImportedBook.bindingCharactersMax)
        try setText(
            "privateNotes", as: "private_notes", of: input,
            charactersMax: ImportedBook.notesCharactersMax)
        try setText(
            "contentNotes", as: "content_notes", of: input,
            charactersMax: ImportedBook.contentNotesCharactersMax)
        if input.isGiven("moods") { set("moods", try Self.moods(input), as: "text[]") }
        if input.isGiven("isbn") {
            isbn = try ISBN.optional(input.text("isbn"))
            set("isbn13", isbn?.description)
        }
        try setFacts(of: input)
        if input.isGiven("cardId") {
            guard input["cardId"] != .null else {
                throw .badUserInput(field: "cardId", .init(.required))
            }
            set(
                "edition_id",
                try input.id("cardId", else: .noSuchCard).description)
        }
        if input.isGiven("status") {
            guard let status = input.text("status") else {
                throw .badUserInput(field: "status", .init(.required))
            }
            set("status", status, as: .inferred)
            isAbandoned = status == ReadingStatus.didNotFinish.rawValue
        }
        if input.isGiven("currentPage") {
            set(
                "current_page",
                input["currentPage"] == .null ? nil : try input.index("currentPage"))
        }
        if input.isGiven("shelfIds") {
            shelfIDs =
                try input.ids("shelfIds", max: BookCreation.shelvesMax, else: .noSuchShelf)
                ?? []
        }
    }

    private static let moodCharactersMax = 100

    /// Returns the moods without repetitions; none if the input has null.
    private static func moods(_ input: InputObject) throws(BookplateError) -> [String] {
        let list = input["moods"]?.list ?? []
        guard list.count <= ImportedBook.moodsMax else {
            throw .badUserInput(
                field: "moods", .init(.tooMany, max: ImportedBook.moodsMax))
        }
        var moods: [String] = []
        for mood in list {
            let text = try TextInput.line(
                mood.string ?? "", field: "moods", charactersMax: moodCharactersMax)
            if !moods.contains(text) { moods.append(text) }
        }
        return moods
    }

    private mutating func setFacts(of input: InputObject) throws(BookplateError) {
        let facts = try BookFacts(input)
        for (field, column, text) in [
            ("subtitle", "subtitle", facts.subtitle),
            ("publisher", "publisher", facts.publisher),
            ("publishedDate", "published_date", facts.publishedDate),
            ("language", "language", facts.language),
            ("description", "description", facts.description),
        ] where input.isGiven(field) {
            set(column, text)
        }
        if input.isGiven("pageCount") { set("page_count", facts.pageCount) }
        if input.isGiven("series") {
            let series = try SeriesInput(input)
            set("series", series.name)
            set("series_position", series.position)
        }
    }

    private mutating func setText(
        _ name: String, as column: String? = nil, of input: InputObject, charactersMax: Int
    ) throws(BookplateError) {
        guard input.isGiven(name) else { return }
        set(
            column ?? name,
            try TextInput.optional(input.text(name), field: name, charactersMax: charactersMax))
    }

    private mutating func set(_ column: String, _ text: String?, as type: PostgresType = .text) {
        assignments.append(
            .init(column: column, value: text.map { .string($0) } ?? .null) {
                $0.append(text: text, as: type)
            })
    }

    private mutating func set(_ column: String, _ texts: [String], as type: String) {
        assignments.append(
            .init(column: column, value: .list(texts.map { .string($0) }), type: type) {
                $0.append(texts: texts)
            })
    }

    private mutating func set(_ column: String, _ number: Int32?) {
        assignments.append(
            .init(column: column, value: number.map { .int(Int($0)) } ?? .null) {
                $0.append(int32: number)
            })
    }

    // MARK: - One book with one statement

    /// Whether `appendAlone` can do the update. A new number of pages is compared with the book's page before the reads are changed,
    /// which `change_reads` does only for a new page.
    var isOneStatement: Bool {
        !assignments.isEmpty && !changesWork && shelfIDs == nil
            && !(changesReads && assigns("page_count") && !assigns("current_page"))
    }

    private func assigns(_ column: String) -> Bool {
        assignments.contains { $0.column == column }
    }

    /// Appends a statement that updates one book, which is several times as fast as that of `BookUpdates`. It returns no row if
    /// there is no such book, or if the new page is beyond the end; `BookUpdates` then finds the reason.
    ///
    /// - Parameter columns: The columns of the book to return.
    func appendAlone(
        to pipeline: inout Pipeline, for viewer: Viewer, book id: UUID, returning columns: String
    ) -> RowsKey {
        var parameters = Parameters.of(viewer.userID, id)
        for assignment in assignments { assignment.bind(&parameters) }
        return pipeline.appendForRows(statement(returning: columns), parameters)
    }

    /// The statements by their assignments and returned columns. Clients choose the columns, so the number of statements is
    /// limited.
    private static let statements = Mutex<[[String]: Statement]>([:])
    private static let statementsMax = 1000

    /// Relies on this plan: the book by its primary key. An update that changes no indexed column, such as the status or the
    /// current page, is a HOT update.
    private func statement(returning columns: String) -> Statement {
        // $1 is the caller, $2 the book.
        var values: [String: String] = [:]
        var key = [columns]
        for (index, assignment) in assignments.enumerated() {
            values[assignment.column] = "$\(3 + index)"
            key.append(assignment.column)
        }
        if let status { key.append(status) }
        let pageMax = pageMax(values["page_count"])
        key.append(pageMax)
        if removesPage { key.append("no page") }
        let reads =
            values["current_page"] != nil || changesReads
            ? Self.changedReads(
                "$2", status: values["status"], page: values["current_page"], pageMax: pageMax)
            : nil
        return Self.statements.withLock { statements in
            if let statement = statements[key] { return statement }
            let statement = Statement(
                """
                UPDATE books b
                SET \(setClauses(values, from: reads).joined(separator: ", ")), updated_at = now()
                \(reads.map { "FROM \($0) r" } ?? "")
                WHERE b.user_id = $1 AND b.id = $2\(reads == nil ? pageCondition(values) : "")
                RETURNING \(columns)
                """)
            if statements.count >= Self.statementsMax { statements.removeAll() }
            statements[key] = statement
            return statement
        }
    }

    private var status: String? {
        assignments.first { $0.column == "status" }?.value.string
    }

    /// Whether the new status can change the reads. WANT_TO_READ and PAUSED leave them as they are.
    private var changesReads: Bool {
        switch status.flatMap(ReadingStatus.init(rawValue:)) {
        case .reading, .read, .didNotFinish: true
        case .wantToRead, .paused, nil: false
        }
    }

    private func setClauses(_ values: [String: String], from reads: String?) -> [String] {
        var clauses = assignments.map { assignment in
            let value = values[assignment.column] ?? "NULL"
            if assignment.column == "current_page" && removesPage {
                return
                    "current_page = CASE WHEN \(Self.hasProgress("b.id")) THEN r.current_page ELSE \(value)::int END"
            }
            let type = assignment.column == "status" ? "reading_status" : assignment.type
            return "\(assignment.column) = \(value)\(type.map { "::\($0)" } ?? "")"
        }
        if reads != nil {
            clauses.append("started_at = r.started_at, finished_at = r.finished_at")
            if values["current_page"] == nil { clauses.append("current_page = r.current_page") }
        }
        return clauses
    }

    /// Whether the update removes the page. It keeps the page of an open read with progress.
    private var removesPage: Bool {
        assignments.contains { $0.column == "current_page" && $0.value == .null }
    }

    /// The condition that the open read of a book has progress, from which the page of the book follows.
    static func hasProgress(_ id: String) -> String {
        "EXISTS (SELECT FROM newest_progress($1, \(id)))"
    }

    /// Returns the greatest page that the update may set, as an expression; NULL for the book's number of pages.
    private func pageMax(_ pageCount: String?) -> String {
        guard let pageCount else { return "NULL" }
        let isRemoved = assignments.contains { $0.column == "page_count" && $0.value == .null }
        return isRemoved ? Self.unlimited : pageCount
    }

    static let unlimited = String(Int32.max)

    /// Returns a call of `change_reads` for the book with the id. It returns the dates and the page that the update then assigns.
    static func changedReads(
        _ id: String, status: String?, page: String?, pageMax: String
    ) -> String {
        """
        change_reads(
            $1, \(id), \(status ?? "NULL")::reading_status, \(page ?? "NULL")::int, \(pageMax)::int
        )
        """
    }

    /// The condition that the page of the book is not beyond the end, if the number of pages is assigned.
    private func pageCondition(_ values: [String: String]) -> String {
        guard let count = values["page_count"] else { return "" }
        return " AND (b.current_page <= \(count)) IS NOT FALSE"
    }

    // MARK: - Entries of `BookUpdates`

    /// The update of a book as an element of the parameter of `BookUpdates.update`.
    func json(of id: UUID) -> Value {
        var members: [Value.Member] = [
            .init("id", .string(id.description)),
            .init("values", .object(assignments.map { .init($0.column, $0.value) })),
        ]
        if let shelfIDs {
            members.append(
                .init("shelf_ids", .list(shelfIDs.map { .string($0.description) })))
        }
        return .object(members)
    }
}
