import GraphQL
import GraphQLPostgres
import Postgres
import Requests

extension Book {
    /// Succeeds even if there is no such book, so that clients can retry the mutation.
    static let delete = PlainMutation(.one) { arguments, request throws(BookplateError) in
        let id = try arguments.id("id", else: .noSuchBook)
        let shelves = try await request.deleteBooks([id])
        return [deletePayload(id, shelves[id] ?? [])]
    }

    static let deleteMany = PlainMutation(.many) { arguments, request throws(BookplateError) in
        let texts = arguments["ids"]?.list ?? []
        guard texts.count <= batchMax else {
            throw .badUserInput(field: "ids", .init(.tooMany, max: batchMax))
        }
        try request.charges.charge(RateLimits.units(forBatchOf: texts.count))
        let ids = texts.map { $0.string.flatMap { UUID($0) } }
        var shelves = try await request.deleteBooks(ids.compactMap { $0 })
        return ids.map { id in
            guard let id else { return Batch.failed(.notFound(.noSuchBook), in: request) }
            // The second of two equal ids finds nothing to delete.
            return deletePayload(id, shelves.removeValue(forKey: id) ?? [])
        }
    }

    private static func deletePayload(_ id: UUID, _ shelves: [UUID]) -> PlainObject {
        PlainObject(leaves: ["id": .string(id.description)], ids: ["shelves": shelves])
    }

    static let deletePayloadFields: [String: FieldResolver] = [
        "id": .property, "shelves": .load(RowsOfPlainObject(.many, Shelf.type)),
    ]

    /// The time limit of a restoration, which may index the words of thousands of notes again. It is shorter than the
    /// server's response timeout.
    private static let restorationTimeout = Duration.seconds(25)
    private static let allowLongStatements = Statement(
        "SELECT set_config('statement_timeout', '\(restorationTimeout.components.seconds * 1000)', true)"
    )

    /// Undoes a deletion. Returns the book if it exists, so that clients can retry the mutation.
    static let restore = RowMutation(type) { arguments, request, book throws(BookplateError) in
        let id = try arguments.id("id", else: .noSuchDeletedBook)
        let (results, outcome) = try await request.write { pipeline, viewer in
            pipeline.timeout = restorationTimeout
            pipeline.append(allowLongStatements)
            let outcome = pipeline.append(RestoreOutcome.restore, .of(viewer.userID, id))
            pipeline.replaceDeckSoon(of: viewer.userID)
            book.append([id], to: &pipeline, for: viewer)
            return outcome
        }
        switch results[outcome].first {
        case .restored: return try book.only(results.last, orElse: .noSuchDeletedBook)
        case .conflict(let other):
            throw .conflict(
                .init(.alreadyInLibrary),
                id: other.description)
        case .notFound: throw .notFound(.noSuchDeletedBook)
        case nil: throw .internalError
        }
    }

    private enum RestoreOutcome: RowDecodable {
        /// The library has the book now, or had it already.
        case restored
        case notFound
        /// This book has the ISBN or the edition.
        case conflict(UUID)

        init?(_ row: inout RowReader) {
            switch (row.text(), row.uuid()) {
            case ("RESTORED", _), ("EXISTS", _): self = .restored
            case ("NOT_FOUND", _): self = .notFound
            case ("CONFLICT", let other?): self = .conflict(other)
            default: return nil
            }
        }

        static let restore = TypedStatement<Self>(
            "SELECT outcome, other_id FROM restore_book($1, $2)")
    }
}

/// A book that was deleted and can be restored.
enum DeletedBook {
    private static let id = Column("d.id", .uuid)
    private static let deletedAt = Column("d.deleted_at", .timestamp)

    static let type = RowType(
        name: "DeletedBook", table: "deleted_books d", scope: "d.user_id = $1", id: id,
        fields: [
            "bookId": .column(id),
            "title": .column(Column("d.book ->> 'title'", .text)),
            "authors": .relation(
                AuthorsOfRow(
                    names: Column(list("authors"), .texts),
                    roles: Column(list("author_roles"), .texts),
                    persons: Column("(\(list("author_ids")))::uuid[]", .uuids))),
            "deletedAt": .column(deletedAt),
            "restorableUntil": .column(Column("d.deleted_at + restorable_for()", .timestamp)),
        ])

    /// Returns the SQL expression of a list of the stored book.
    private static func list(_ member: String) -> String {
        "ARRAY(SELECT jsonb_array_elements_text(d.book -> '\(member)'))"
    }

    /// Relies on this plan: a page is read from `deleted_books_of_user`, starting after the cursor.
    static let ofUser = RowConnection(
        type, key: User.id,
        orders: [
            RowOrder(name: "deleted", columns: [.init(deletedAt), .init(id)], isDescending: true)
        ],
        source: { _, _ in
            .init(
                from: """
                    deleted_books d
                    WHERE d.user_id = $1
                      AND d.deleted_at > now() - restorable_for()
                      AND NOT EXISTS (SELECT FROM books b WHERE b.user_id = $1 AND b.id = d.id)
                    """)
        })
}

/// A row of the function `delete_books`.
struct BookDeletion: RowDecodable {
    let id: UUID
    let titleCardVersion: String
    /// The shelves that the book was on.
    let shelfIDs: [UUID]

    init?(_ row: inout RowReader) {
        guard let id = row.uuid(), let titleCardVersion = row.text() else { return nil }
        self.id = id
        self.titleCardVersion = titleCardVersion
        shelfIDs = row.uuids() ?? []
    }

    fileprivate static let delete = TypedStatement<Self>(
        """
        SELECT book_id, title_card_version(title, author, genre), shelf_ids
        FROM delete_books($1, $2)
        """)
}

extension RequestContext {
    /// Deletes books such that they can be restored.
    ///
    /// - Returns: The shelves of each deleted book.
    fileprivate func deleteBooks(
        _ ids: [UUID]
    ) async throws(BookplateError) -> [UUID: [UUID]] {
        let deletions = try await write { pipeline, viewer in
            var parameters = Parameters.of(viewer.userID)
            parameters.append(uuids: ids)
            let deletions = pipeline.append(BookDeletion.delete, parameters)
            pipeline.replaceDeckSoon(of: viewer.userID)
            return deletions
        }
        await removeTitleCards(of: deletions)
        return Dictionary(deletions.map { ($0.id, $0.shelfIDs) }) { first, _ in first }
    }
}
