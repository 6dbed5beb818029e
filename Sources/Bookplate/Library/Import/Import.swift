import GraphQL
import GraphQLPostgres
import Identity
import JobQueue
import Postgres

/// A file that is read into a library in the background.
enum Import {
    static let id = Column("i.id", .uuid)

    static let type = RowType(
        name: "Import", table: "imports i", scope: "i.user_id = $1", id: id,
        fields: [
            "id": .column(id),
            "state": .column(Column("i.state", .text)),
            "total": .column(Column("i.total", .integer)),
            "done": .column(Column("i.done", .integer)),
            "created": .column(Column("i.created", .integer)),
            "updated": .column(Column("i.updated", .integer)),
            "failed": .relation(
                RowRelation(
                    .many, failureType, key: id, matching: "f.import_id",
                    from: """
                        import_failures f WHERE f.user_id = $1 AND f.import_id = ANY($2) \
                        ORDER BY f.line
                        """)),
        ])

    static let failureType = RowType(
        name: "ImportFailure", table: "import_failures f", scope: "f.user_id = $1",
        id: Column("f.import_id", .uuid),
        fields: [
            "line": .column(Column("f.line", .integer)),
            "message": .column(Column("f.message", .text)),
        ])

    /// Imports of one user that may wait or be under way.
    private static let unfinishedMax = 5

    static let importLibrary = RowMutation(type) {
        arguments, request, row throws(BookplateError) in
        let bytes = try request.upload(arguments["file"] ?? .null, field: "file")
        let chosen = arguments["format"]?.string.flatMap { ImportFormat(rawValue: $0) }
        // What is no library is refused at once.
        let format = try ImportFile(bytes, format: chosen).format
        try request.charge(RateLimits.unitsPerImport)
        let id = UUID.version7()
        let rows = try await request.write { segment, viewer in
            var parameters = Parameters.of(viewer.userID, id)
            parameters.append(text: format.rawValue, as: .inferred)
            parameters.append(bytea: bytes)
            parameters.append(bytea: sha256(bytes))
            segment.append(insert, parameters)
            // Where the same file is being read already, this finds nothing to do.
            segment.enqueue(
                ImportLibrary.self, .init(importID: id), for: viewer.userID, key: id.description)
        }
        guard let made = rows[0].uuid(0, 0) else { throw .rateLimited(retryAfterSeconds: 60) }
        let (results, key) = try await request.read { row.append([made], to: &$0, for: $1) }
        return try row.only(results[key], orElse: "There is no such import.")
    }

    /// The same file while it is being read is the same import, so that it can be sent again.
    private static let insert = Statement(
        """
        WITH same AS (SELECT id FROM imports WHERE user_id = $1 AND content_hash = $5 AND format = $3 \
        AND state IN ('QUEUED', 'RUNNING')), \
        made AS (INSERT INTO imports (user_id, id, format, content, content_hash) \
        SELECT $1, $2, $3, $4, $5 WHERE NOT EXISTS (SELECT FROM same) \
        AND (SELECT count(*) FROM imports WHERE user_id = $1 AND state IN ('QUEUED', 'RUNNING')) \
        < \(unfinishedMax) RETURNING id) \
        SELECT id FROM made UNION ALL SELECT id FROM same
        """)
}
