import Basics
import GraphQLServing
import GraphQL
import GraphQLPostgres
import HTTPFetch
import ImageProcessing
import Postgres
import Requests

extension Cover {
    static let set = RowMutation(Book.type) { arguments, request, book throws(BookplateError) in
        let id = try arguments.id("id", else: .noSuchBook)
        let input = InputObject(arguments["input"])
        if let search = input["search"], !search.isNull {
            guard search == .boolean(true) else {
                throw .badUserInput(
                    field: "search",
                    .init(
                        .invalidChoice,
                        detail:
                            "search must be true. Otherwise, omit it and provide an image or a URL."
                    ))
            }
            return try await startSearch(for: id, in: request, book)
        }
        // Check that the book exists before charging and decoding.
        try await request.requireBook(id)
        try request.charges.charge(RateLimits.unitsPerImage)
        let images: CoverImages
        let source: CoverSource
        if let upload = input["image"], !upload.isNull {
            images = try await request.services.covers.decode(
                try request.upload(upload, field: "image"))
            source = .manualUpload
        } else {
            let url = input.text("url") ?? ""
            let covers = request.services.covers
            images = try await covers.downloads.run(for: try request.caller().userID) {
                () async throws(BookplateError) in try await covers.fetch(url)
            }
            source = .url
        }
        let rows = try await request.setCover(images, of: id, source: source) {
            book.append([id], to: &$0, for: $1)
        }
        return try book.only(rows, orElse: .noSuchBook)
    }

    /// Starts a background search and returns the book at once. The book keeps its cover until another one is found.
    private static func startSearch(
        for id: UUID, in request: RequestContext, _ book: RowsByID
    ) async throws(BookplateError) -> Children {
        try request.charges.charge(RateLimits.unitsPerImage)
        let canSearch = !request.services.coverSources.isEmpty
        let (results, row) = try await request.write { pipeline, viewer in
            pipeline.append(canSearch ? requestOne : setNotFound, .of(viewer.userID, id))
            let row = book.append([id], to: &pipeline, for: viewer)
            if canSearch { pipeline.enqueueCoverSearches() }
            return row
        }
        return try book.only(results[row], orElse: .noSuchBook)
    }

    static let remove = RowMutation(Book.type) { arguments, request, book throws(BookplateError) in
        let id = try arguments.id("id", else: .noSuchBook)
        let rows = try await request.removeCover(of: id) { book.append([id], to: &$0, for: $1) }
        return try book.only(rows, orElse: .noSuchBook)
    }
}

extension RequestContext {
    /// - Throws: `.notFound` if the book is not in the caller's library.
    func requireBook(_ id: UUID) async throws(BookplateError) {
        let (results, book) = try await read { pipeline, viewer in
            pipeline.appendForRows(findBook, .of(viewer.userID, id))
        }
        guard results[book].count > 0 else { throw .notFound(.noSuchBook) }
    }

    /// Stores an image, makes it the book's cover, and removes the previous cover.
    ///
    /// - Parameter append: Adds one statement to the transaction.
    /// - Returns: The rows of that statement.
    func setCover(
        _ images: CoverImages, of book: UUID, source: CoverSource,
        _ append: (inout Pipeline, Viewer) -> RowsKey
    ) async throws(BookplateError) -> Rows {
        let covers = services.covers
        let user = try caller().userID
        let staged: StagedCover
        do throws(BookplateError) {
            staged = try await covers.stage(images, user: user, book: book, source: source)
        } catch .serviceUnavailable(let seconds, .notDone) where hasWritten {
            throw .serviceUnavailable(retryAfterSeconds: seconds, outcome: .unknown)
        } catch .storageFull where hasWritten {
            throw .serviceUnavailable(
                retryAfterSeconds: BookplateError.storageFullRetrySeconds, outcome: .unknown)
        }
        do throws(BookplateError) {
            let (results, keys) = try await write { pipeline, viewer in
                (
                    version: staged.append(to: &pipeline), rows: append(&pipeline, viewer),
                    removed: pipeline.appendRemovedCovers(of: viewer.userID)
                )
            }
            await covers.settle(staged, kept: results[keys.version].first)
            await removeCovers(results[keys.removed])
            return results[keys.rows]
        } catch {
            await covers.settle(staged, failed: error)
            throw error
        }
    }

    /// Removes the book's cover.
    ///
    /// - Parameter append: Adds one statement to the transaction.
    /// - Returns: The rows of that statement.
    func removeCover(
        of book: UUID, _ append: (inout Pipeline, Viewer) -> RowsKey
    ) async throws(BookplateError) -> Rows {
        let (results, keys) = try await write { pipeline, viewer in
            pipeline.append(deleteCover, .of(viewer.userID, book))
            pipeline.append(clearStatus, .of(viewer.userID, book))
            return (
                rows: append(&pipeline, viewer),
                removed: pipeline.appendRemovedCovers(of: viewer.userID)
            )
        }
        await removeCovers(results[keys.removed])
        return results[keys.rows]
    }

    /// Returns a file of a multipart request.
    func upload(_ reference: Value, field: String) throws(BookplateError) -> StoredBytes {
        guard let index = UploadReference.index(reference), uploads.indices.contains(index) else {
            throw .badUserInput(
                field: field,
                .init(.notAFile)
            )
        }
        return uploads[index]
    }
}

private let findBook = Statement("SELECT FROM books WHERE user_id = $1 AND id = $2")

private let deleteCover = Statement("DELETE FROM covers WHERE user_id = $1 AND book_id = $2")

private let clearStatus = Statement(
    """
    UPDATE books
    SET cover_status = 'NO_COVER', cover_requested_at = NULL, is_cover_removed = true, updated_at = now()
    WHERE user_id = $1 AND id = $2
        AND (cover_status <> 'NO_COVER' OR (edition_id IS NOT NULL AND NOT is_cover_removed))
    """)
