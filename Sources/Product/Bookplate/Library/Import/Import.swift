import Basics
import EventLoops
import GraphQL
import GraphQLPostgres
import Identity
import JobQueue
import Postgres
import Requests

/// The import of an uploaded file into a library. It runs in the background.
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
            "ignoredColumns": .column(Column("i.ignored_columns", .texts)),
            "failed": .relation(
                RowRelation(
                    .many, failureType, key: id, matching: "f.import_id",
                    from: """
                        import_failures f
                        WHERE f.user_id = $1 AND f.import_id = $2
                        ORDER BY f.line, f.position
                        """)),
        ])

    static let failureType = RowType(
        name: "ImportFailure", table: "import_failures f", scope: "f.user_id = $1",
        id: Column("f.import_id", .uuid),
        fields: [
            "line": .column(Column("f.line", .integer)),
            "field": .column(Column("f.field", .text)),
            "message": .column(Column("f.message", .text)),
        ])

    /// The maximum number of one user's imports that are waiting or running.
    private static let unfinishedMax = 5

    static let importLibrary = RowMutation(type) {
        arguments, request, row throws(BookplateError) in
        let input = InputObject(arguments["input"])
        let upload = try request.upload(input["file"] ?? .null, field: "file")
        let requestedFormat = input.text("format").flatMap { ImportFormat(rawValue: $0) }
        // Charged before the work of reading the file.
        try request.charges.charge(RateLimits.unitsPerImport)
        // Reject a file that is not a library before the import is enqueued.
        let (format, bytes, hash) = try await checked(upload, requestedFormat, in: request)
        let id = UUID.version7()
        let (results, importID) = try await request.write { pipeline, viewer in
            var parameters = Parameters.of(viewer.userID, id)
            parameters.append(text: format.rawValue, as: .inferred)
            parameters.append(bytea: bytes)
            parameters.append(bytea: hash)
            let importID = pipeline.append(insert, parameters)
            // If the same file is already being imported, this job finds no import and does nothing.
            pipeline.enqueue(
                ImportLibrary.self, .init(importID: id), for: viewer.userID, key: id.description)
            return importID
        }
        guard let id = results[importID].first else { throw .rateLimited(retryAfterSeconds: 60) }
        let (readBack, key) = try await request.read { row.append([id], to: &$0, for: $1) }
        return try row.only(readBack[key], orElse: .noSuchImport)
    }

    /// Reads a file, and returns its format, its bytes, and their SHA-256 hash.
    ///
    /// - Throws: `.badUserInput` if no library can be read from the file, `.rateLimited` if too many files wait, or
    ///   `.serviceUnavailable` if the temporary file cannot be read.
    private static func checked(
        _ upload: StoredBytes, _ format: ImportFormat?, in request: RequestContext
    ) async throws(BookplateError) -> (ImportFormat, bytes: [UInt8], hash: [UInt8]) {
        guard upload.count <= ImportFile.bytesMax else { throw ImportFile.tooLarge }
        let logger = request.services.logger
        let result = await ImportFile.threads.run(for: try request.caller().userID) {
            Result { () throws(BookplateError) in
                let bytes: [UInt8]
                do throws(UnnamedFile.Failure) {
                    bytes = try upload.bytes()
                } catch {
                    logger.error("an upload cannot be read", metadata: ["reason": "\(error)"])
                    throw .serviceUnavailable(retryAfterSeconds: 5)
                }
                let file = try ImportFile(bytes, format: format, hasCovers: false)
                return (file.format, bytes: bytes, hash: sha256(bytes))
            }
        }
        guard let result else { throw .rateLimited(retryAfterSeconds: 5) }
        return try result.get()
    }

    /// Returns the id of the import. If the same file is already being imported, that is the existing import, so that
    /// clients can retry the mutation. There is no row if the user has too many unfinished imports.
    private static let insert = TypedStatement<UUID>(
        """
        WITH same AS (
          SELECT id
          FROM imports
          WHERE user_id = $1 AND content_hash = $5 AND format = $3
            AND state IN ('QUEUED', 'RUNNING')
        ), created AS (
          INSERT INTO imports (user_id, id, format, content, content_hash)
          SELECT $1, $2, $3, $4, $5
          WHERE NOT EXISTS (SELECT FROM same)
            AND (
              SELECT count(*)
              FROM imports
              WHERE user_id = $1 AND state IN ('QUEUED', 'RUNNING')
            ) < \(unfinishedMax)
          RETURNING id
        )
        SELECT id FROM created
        UNION ALL
        SELECT id FROM same
        """)
}
