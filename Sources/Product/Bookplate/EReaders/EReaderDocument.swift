import GraphQL
import GraphQLPostgres
import Postgres
import Requests

/// A file that KOReader has reported, and the book that it is linked to.
enum EReaderDocument {
    /// The maximum number of documents of a reader. At the limit, a new document replaces the oldest one without a link.
    static let ofUserMax = 10_000
    private static let id = Column("d.id", .uuid)
    private static let bookID = Column("d.book_id", .uuid)
    private static let syncedAt = Column("d.synced_at", .timestamp)

    static let type: RowType = RowType(
        name: "EreaderDocument", table: "ereader_documents d", scope: "d.user_id = $1", id: id,
        fields: [
            "id": .column(id),
            "hash": .column(Column("d.hash", .text)),
            "title": .column(Column("d.title", .text)),
            "author": .column(Column("d.author", .text)),
            "book": .relation(
                RowRelation(
                    .one, Book.type, key: bookID, matching: "b.id",
                    from: "books b WHERE b.user_id = $1 AND b.id = $2")),
            "percent": .column(Column("100 * d.fraction", .float)),
            "deviceName": .column(Column("d.device_name", .text)),
            "syncedAt": .column(syncedAt),
            "createdAt": .column(Column("d.created_at", .timestamp)),
        ])

    /// Relies on this plan: a page is read from `ereader_documents_synced`, starting after the cursor. With `linked`, the other
    /// documents are read and skipped.
    static let ofUser = RowConnection(
        type, key: User.id,
        orders: [
            RowOrder(name: "synced", columns: [.init(syncedAt), .init(id)], isDescending: true)
        ],
        source: { arguments, _ in
            let from = "\(type.table) WHERE \(type.scope)"
            guard let isLinked = arguments["linked"]?.boolean else { return .init(from: from) }
            return .init(from: "\(from) AND d.book_id IS \(isLinked ? "NOT " : "")NULL")
        })

    static let link = RowMutation(type) { arguments, request, document throws(BookplateError) in
        let id = try arguments.id("id", else: .noSuchDocument)
        let book = try InputObject(arguments["input"]).id("bookId", else: .noSuchBook)
        let (results, outcomes) = try await request.write { pipeline, viewer in
            let outcomes = pipeline.append(linkDocument, .of(viewer.userID, id, book))
            document.append([id], to: &pipeline, for: viewer)
            return outcomes
        }
        if let error = error(results[outcomes].first) { throw error }
        return try document.only(results.last, orElse: .noSuchDocument)
    }

    static let unlink = RowMutation(type) { arguments, request, document throws(BookplateError) in
        let id = try arguments.id("id", else: .noSuchDocument)
        let (results, _) = try await request.write { pipeline, viewer in
            pipeline.append(unlinkDocument, .of(viewer.userID, id))
            document.append([id], to: &pipeline, for: viewer)
        }
        return try document.only(results.last, orElse: .noSuchDocument)
    }

    private static let linkDocument = TypedStatement<String>("SELECT link_document($1, $2, $3)")

    private static let unlinkDocument = Statement(
        "UPDATE ereader_documents SET book_id = NULL WHERE user_id = $1 AND id = $2")

    private static func error(_ outcome: String?) -> BookplateError? {
        switch outcome {
        case "DONE": nil
        case "DOCUMENT": .notFound(.noSuchDocument)
        case "BOOK": .notFound(.noSuchBook)
        case let outcome: tooMany(outcome) ?? .internalError
        }
    }

    /// Returns the error for an outcome of a function of migrations/functions/ereaders.sql that says that a book is full.
    static func tooMany(_ outcome: String?) -> BookplateError? {
        switch outcome {
        case "READS":
            limitReached("A book may have at most \(Read.ofBookMax) reads.", Read.ofBookMax)
        case "ENTRIES":
            limitReached(
                "A read may have at most \(ProgressEntry.ofReadMax) progress entries. Delete some first.",
                ProgressEntry.ofReadMax)
        default: nil
        }
    }

    /// The e-reader shows the message without its context.
    private static func limitReached(_ sentence: String, _ max: Int) -> BookplateError {
        .badUserInput(
            field: "bookId", InputProblem(.limitReached, max: Double(max), detail: sentence))
    }
}
