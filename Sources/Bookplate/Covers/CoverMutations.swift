import GraphQL
import HTTPFetch
import ImageProcessing
import Postgres

extension Cover {
    static let set = RowMutation(Book.type) { arguments, request, book throws(BookplateError) in
        let id = try arguments.id("bookId", else: Book.noSuchBook)
        let input = InputObject(arguments["source"])
        if let search = input["search"], !search.isNull {
            guard search == .boolean(true) else {
                throw .badUserInput(
                    field: "source.search", "Say search: true, or give an image or an address.")
            }
            return try await lookFor(id, in: request, book)
        }
        // Before any work is done for it.
        try await request.knowsBook(id)
        try request.charge(RateLimits.unitsPerImage)
        let images: CoverImages
        let source: CoverSource
        if let upload = input["image"], !upload.isNull {
            images = try await request.services.covers.decode(
                try request.upload(upload, field: "source.image"))
            source = .manualUpload
        } else {
            images = try await request.services.covers.fetch(input.text("url") ?? "")
            source = .url
        }
        let rows = try await request.setCover(images, of: id, source: source) {
            book.append([id], to: &$0, for: $1)
        }
        return try book.only(rows, orElse: Book.noSuchBook)
    }

    /// Answers at once: the book has the cover that it has, until another one is found.
    private static func lookFor(
        _ id: UUID, in request: RequestContext, _ book: RowsByID
    ) async throws(BookplateError) -> Children {
        try request.charge(RateLimits.unitsPerImage)
        let canAsk = !request.services.coverSources.isEmpty
        let rows = try await request.write { segment, viewer in
            segment.append(canAsk ? wishForOne : findNone, .of(viewer.userID, id))
            book.append([id], to: &segment, for: viewer)
            if canAsk { segment.enqueueCoverSearches() }
        }
        return try book.only(rows[1], orElse: Book.noSuchBook)
    }

    static let remove = RowMutation(Book.type) { arguments, request, book throws(BookplateError) in
        let id = try arguments.id("bookId", else: Book.noSuchBook)
        let rows = try await request.removeCover(of: id) { book.append([id], to: &$0, for: $1) }
        return try book.only(rows, orElse: Book.noSuchBook)
    }
}

extension RequestContext {
    /// - Throws: `.notFound` for a book that the caller does not have.
    func knowsBook(_ id: UUID) async throws(BookplateError) {
        let rows = try await read { segment, viewer in
            segment.append(findBook, .of(viewer.userID, id))
        }
        guard rows[0].count > 0 else { throw .notFound(Book.noSuchBook) }
    }

    /// Stores a cover, makes it the book's, and removes the one before.
    ///
    /// - Parameter append: adds one statement to the transaction, whose rows are the result.
    func setCover(
        _ images: CoverImages, of book: UUID, source: CoverSource,
        _ append: (inout Pipeline, Viewer) -> Void
    ) async throws(BookplateError) -> Rows {
        let covers = services.covers
        let staged = try await covers.stage(
            images, user: try caller().userID, book: book, source: source)
        do throws(BookplateError) {
            let rows = try await write { segment, viewer in
                staged.append(to: &segment)
                append(&segment, viewer)
                segment.appendRemovedCovers(of: viewer.userID)
            }
            await covers.settle(staged, kept: rows[0].text(0, 0))
            await removeCovers(rows[2])
            return rows[1]
        } catch {
            await covers.settle(staged, failed: error)
            throw error
        }
    }

    /// - Parameter append: adds one statement to the transaction, whose rows are the result.
    func removeCover(
        of book: UUID, _ append: (inout Pipeline, Viewer) -> Void
    ) async throws(BookplateError) -> Rows {
        let rows = try await write { segment, viewer in
            segment.append(deleteCover, .of(viewer.userID, book))
            segment.append(clearStatus, .of(viewer.userID, book))
            append(&segment, viewer)
            segment.appendRemovedCovers(of: viewer.userID)
        }
        await removeCovers(rows[3])
        return rows[2]
    }

    /// The bytes of a file of a multipart request.
    func upload(_ reference: Value, field: String) throws(BookplateError) -> [UInt8] {
        guard let index = UploadReference.index(reference), uploads.indices.contains(index) else {
            throw .badUserInput(
                field: field,
                "This is a file of a multipart/form-data request that its map leads here.")
        }
        return uploads[index]
    }
}

private let findBook = Statement("SELECT FROM books WHERE user_id = $1 AND id = $2")

private let deleteCover = Statement("DELETE FROM covers WHERE user_id = $1 AND book_id = $2")

private let clearStatus = Statement(
    """
    UPDATE books SET cover_status = 'NONE', cover_wanted_at = NULL, updated_at = now() \
    WHERE user_id = $1 AND id = $2 AND cover_status <> 'NONE'
    """)
