import Basics
import GraphQL
import GraphQLPostgres
import Identity
import Postgres
import Requests

/// A link by which a reader shares a shelf, a review, a note, or the reading of a year, as its owner sees it.
enum SharedLink {
    static let path = "/s/"
    /// The maximum number of links of a reader.
    static let ofReaderMax = 100

    private static let id = Column("l.id", .uuid)
    private static let seed = Column("l.seed", .uuid)
    private static let hash = Column("encode(l.token_hash, 'hex')", .text)

    static let type = RowType(
        name: "SharedLink", table: "shared_links l", scope: "l.user_id = $1", id: id,
        fields: [
            "id": .column(id),
            "url": .relation(Address()),
            "kind": .column(
                Column(
                    """
                    CASE
                        WHEN l.shelf_id IS NOT NULL THEN 'SHELF'
                        WHEN l.review_id IS NOT NULL THEN 'REVIEW'
                        WHEN l.note_id IS NOT NULL THEN 'NOTE'
                        ELSE 'YEAR'
                    END
                    """, .text)),
            "shelf": .relation(
                RowRelation(
                    .one, Shelf.type, key: Column("l.shelf_id", .uuid), matching: "s.id",
                    from: "shelves s WHERE s.user_id = $1 AND s.id = $2")),
            "review": .relation(
                RowRelation(
                    .one, Review.type, key: Column("l.review_id", .uuid), matching: "r.id",
                    from: "reviews r WHERE r.user_id = $1 AND r.id = $2")),
            "note": .relation(
                RowRelation(
                    .one, Note.type, key: Column("l.note_id", .uuid), matching: "n.id",
                    from: "notes n WHERE n.user_id = $1 AND n.id = $2")),
            "year": .column(Column("l.year", .integer)),
            "showsName": .column(Column("l.shows_name", .boolean)),
            "createdAt": .column(Column("l.created_at", .timestamp)),
            "expiresAt": .column(Column("l.expires_at", .timestamp)),
        ])

    static let ofUser = RowRelation(
        .many, type, key: User.id, matching: "l.user_id",
        from: """
            shared_links l
            WHERE l.user_id = $1 AND l.user_id = $2 AND coalesce(l.expires_at > now(), true)
            ORDER BY l.created_at DESC, l.id
            """)

    /// `SharedLink.url`. Null if the keys of the installation were replaced since the link was created.
    private struct Address: RowLoader {
        var parentColumns: [Column] { [id, seed, hash] }

        func prepare(_ field: SelectedField) -> any PreparedLoad { Prepared() }

        private struct Prepared: RequestLoad {
            func start(
                for parents: any ObjectBatch, arguments: ArgumentValues, in request: RequestContext
            ) throws(BookplateError) -> Load {
                guard let parents = parents as? RowBatch, let idIndex = parents.index(of: id),
                    let seedIndex = parents.index(of: seed), let hashIndex = parents.index(of: hash)
                else { return .needsParents }
                let keys = request.services.accounts.sessionKeys
                let urls = (0..<parents.count).map { parent -> Value in
                    let row = parents.row(of: parent)
                    guard let id = parents.rows.uuid(row, idIndex),
                        let seed = parents.rows.uuid(row, seedIndex)
                    else { return .null }
                    let token = SharedToken(of: id, seed: seed, keys: keys)
                    guard parents.rows.text(row, hashIndex) == lowercaseHex(token.hash) else {
                        return .null
                    }
                    return .string("\(request.services.covers.urls.publicURL)\(path)\(token.text)")
                }
                return .ready(.each(of: LeafBatch(urls)))
            }
        }
    }

    // MARK: - Mutations

    static let create = RowMutation(type) { arguments, request, links throws(BookplateError) in
        let input = InputObject(arguments["input"])
        let id = try input.newID()
        let item = InputObject(input["item"])
        var missing = ErrorReason.invalidID
        func object(_ field: String, else reason: ErrorReason) throws(BookplateError) -> UUID? {
            guard let text = item.text(field) else { return nil }
            missing = reason
            guard let id = UUID(text) else { throw .notFound(reason) }
            return id
        }
        let expiresAt = input.text("expiresAt").flatMap { Instant($0) }?.microseconds
        if let expiresAt, expiresAt <= unixSecondsNow() * 1_000_000 {
            throw .badUserInput(field: "expiresAt", .init(.inPast))
        }
        let year = item["year"]?.int
        if let year, !ReadingGoal.years.contains(year) {
            throw .badUserInput(
                field: "year",
                .init(
                    .outOfRange, min: ReadingGoal.years.lowerBound,
                    max: ReadingGoal.years.upperBound))
        }
        let seed = UUID(random: randomBytes(16))
        let token = SharedToken(of: id, seed: seed, keys: request.services.accounts.sessionKeys)
        var parameters = Parameters.of(try request.caller().userID, id)
        parameters.append(bytea: token.hash)
        parameters.append(uuid: seed)
        parameters.append(uuid: try object("shelfId", else: .noSuchShelf))
        parameters.append(uuid: try object("reviewId", else: .noSuchReview))
        parameters.append(uuid: try object("noteId", else: .noSuchNote))
        parameters.append(int32: year.map { Int32($0) })
        parameters.append(bool: input["showsName"]?.boolean == true)
        parameters.append(timestamptz: expiresAt)
        parameters.append(int32: Int32(ofReaderMax))
        try request.charges.charge(RateLimits.unitsPerCredential)
        let (results, outcomes) = try await request.write { pipeline, viewer in
            let outcomes = pipeline.append(Outcome.create, parameters)
            links.append([id], to: &pipeline, for: viewer)
            return outcomes
        }
        switch results[outcomes].first {
        case .done: return try links.only(results.last, orElse: .noSuchLink)
        case .off: throw .forbidden("The operator does not allow this app to share by links.")
        case .taken: throw .conflict(.init(.idTaken), field: "id")
        case .missing: throw .notFound(missing)
        case .full: throw .badUserInput(field: "input", .init(.limitReached, max: ofReaderMax))
        case nil: throw .internalError
        }
    }

    /// Succeeds even if there is no such link, so that clients can retry the mutation.
    static let revoke = PlainMutation(.one) { arguments, request throws(BookplateError) in
        let id = try arguments.id("id", else: .noSuchLink)
        try request.charges.charge(RateLimits.unitsPerCredential)
        try await request.write { pipeline, viewer in
            pipeline.append(delete, .of(viewer.userID, id))
        }
        return [PlainObject(leaves: ["id": .string(id.description)])]
    }

    private static let delete = Statement("DELETE FROM shared_links WHERE user_id = $1 AND id = $2")

    /// The outcome of `create_shared_link`.
    private enum Outcome: String, RowDecodable {
        case done = "DONE"
        case off = "OFF"
        case taken = "TAKEN"
        case missing = "MISSING"
        case full = "FULL"

        init?(_ row: inout RowReader) { self.init(rawValue: row.text() ?? "") }

        static let create = TypedStatement<Self>(
            "SELECT create_shared_link($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)")
    }
}
