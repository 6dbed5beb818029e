import GraphQL
import Postgres
import Synchronization

/// The fields of a book to change. Fields that the input does not have are unchanged; null removes a value.
struct BookUpdate {
    private var assignments: [String] = []
    /// Append the parameters of the assignments, in order.
    private var bindings: [(inout Parameters) -> Void] = []
    private var shelfIDs: [UUID]?
    /// Whether the book may be another one of the catalog now.
    private let changesWork: Bool
    /// Whether the update changes what the feed learns from the book. The difference between the other statuses is small, and
    /// counts from the next deck.
    var changesFeed: Bool { changesWork || isAbandoned }
    private var isAbandoned = false
    /// The new ISBN.
    private(set) var isbn: ISBN?

    /// - Throws: `.badUserInput` with the name of the field.
    init(_ input: InputObject) throws(BookplateError) {
        changesWork = ["title", "author", "authors", "isbn"].contains { input.isGiven($0) }
        if input.isGiven("title") {
            let title = try TextInput.line(
                input.text("title") ?? "", field: "title",
                charactersMax: BookCreation.titleCharactersMax)
            set("title = $?") { $0.append(text: title) }
        }
        if let authors = try BookAuthors(input) {
            set("authors = $?") { $0.append(texts: authors.names) }
            set("author_roles = $?::author_role[]") { $0.append(texts: authors.roles) }
            set("written_author = $?") { $0.append(text: authors.written) }
        }
        try setText(
            "category", of: input, charactersMax: BookCreation.labelCharactersMax)
        try setText("genre", of: input, charactersMax: BookCreation.labelCharactersMax)
        if input.isGiven("isbn") {
            let isbn = try ISBN.optional(input.text("isbn"))
            self.isbn = isbn
            set("isbn13 = $?") { $0.append(text: isbn?.description) }
        }
        if input.isGiven("status") {
            guard let status = input.text("status") else {
                throw .badUserInput(field: "status", "A book always has a status.")
            }
            set("status = $?::reading_status") { $0.append(text: status, as: .inferred) }
            isAbandoned = status == "DID_NOT_FINISH"
            // A status that stays the same changes no date.
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

    /// Adds an assignment. `$?` stands for the parameter that `bind` appends.
    private mutating func set(_ assignment: String, _ bind: ((inout Parameters) -> Void)? = nil) {
        guard let bind else {
            assignments.append(assignment)
            return
        }
        bindings.append(bind)
        // $1 is the caller, $2 the book.
        let parts = assignment.split(separator: "$?", omittingEmptySubsequences: false)
        assignments.append(parts.joined(separator: "$\(2 + bindings.count)"))
    }

    /// Whether the update needs only one statement, which can return the book.
    var isOneStatement: Bool { !assignments.isEmpty && !changesFeed && shelfIDs == nil }

    /// Appends the statements of the update.
    ///
    /// - Parameter columns: The columns of the book that an update of one statement returns.
    func append(
        to pipeline: inout Pipeline, for viewer: Viewer, book id: UUID, returning columns: String?
    ) {
        if !assignments.isEmpty {
            var parameters = Parameters.of(viewer.userID, id)
            for bind in bindings { bind(&parameters) }
            pipeline.append(Self.statement(assignments, returning: columns), parameters)
            if changesWork { pipeline.append(Self.link, .of(viewer.userID, id)) }
        }
        if let shelfIDs {
            var parameters = Parameters.of(viewer.userID, id)
            parameters.append(uuids: shelfIDs)
            pipeline.append(Self.addToShelves, parameters)
            pipeline.append(Self.removeFromOtherShelves, parameters)
        }
    }

    /// The statements by their assignments and returned columns. Clients choose the columns, so the number of statements is
    /// limited.
    private static let statements = Mutex<[[String]: Statement]>([:])
    private static let statementsMax = 1000

    /// Relies on this plan: the book by its primary key. An update that changes no indexed column, such as the current page, is
    /// a HOT update.
    private static func statement(
        _ assignments: [String], returning columns: String?
    ) -> Statement {
        statements.withLock { statements in
            let key = assignments + [columns ?? ""]
            if let statement = statements[key] { return statement }
            let text = """
                UPDATE books b
                SET \(assignments.joined(separator: ", ")), updated_at = now()
                WHERE user_id = $1 AND id = $2
                """
            let statement = Statement(columns.map { "\(text)\nRETURNING \($0)" } ?? text)
            if statements.count >= statementsMax { statements.removeAll() }
            statements[key] = statement
            return statement
        }
    }

    /// Links the book to the edition with its new ISBN, title, and author. A card that the reader chose stays.
    private static let link = Statement("SELECT link_books(ARRAY[$1], ARRAY[$2])")

    private static let addToShelves = Statement(
        """
        INSERT INTO shelf_books (user_id, shelf_id, book_id, added_at)
        SELECT $1, requested.id, b.id, b.added_at
        FROM books b, unnest($3::uuid[]) AS requested (id)
        WHERE b.user_id = $1 AND b.id = $2
        ON CONFLICT DO NOTHING
        """)

    private static let removeFromOtherShelves = Statement(
        """
        DELETE FROM shelf_books
        WHERE user_id = $1 AND book_id = $2 AND shelf_id <> ALL($3::uuid[])
        """)
}
