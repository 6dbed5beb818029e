import ImageProcessing
import ObjectStorage
import Postgres

/// What the plain addresses of pictures ask for, beside GraphQL. On one event loop.
package final class CoverRequests {
    private let runner: RequestRunner
    private let database: ConnectionPool
    private let services: Services

    package init(_ runner: RequestRunner, database: ConnectionPool, services: Services) {
        self.runner = runner
        self.database = database
        self.services = services
    }

    package var store: any ObjectStore { services.covers.store }

    // MARK: - Reading, by anybody

    /// The version that an address without one shows now; nil where there is nothing. A title card is
    /// drawn where it is not there.
    package func currentVersion(
        of key: ObjectKey, requestID: String
    ) async throws(BookplateError) -> String? {
        guard let name = UUID(key.name) else { return nil }
        switch (key.bucket, UUID(key.folder)) {
        case (.bookCovers, let user?):
            return try await ask(Self.findVersion, .of(user, name), requestID).text(0, 0)
        case (.bookCovers, nil): return nil
        case (.editionCovers, _):
            return try await ask(Self.findEditionVersion, .of(name), requestID).text(0, 0)
        case (.titleCards, let user?):
            return try await drawn(ask(Self.findBook, .of(user, name), requestID), key)
        case (.titleCards, nil):
            return try await drawn(ask(Self.findEdition, .of(name), requestID), key)
        }
    }

    private func drawn(_ rows: Rows, _ key: ObjectKey) async throws(BookplateError) -> String? {
        guard let title = rows.text(0, 0) else { return nil }
        let card = TitleCard(title: title, author: rows.text(0, 1), genre: rows.text(0, 2))
        do throws(ImageError) {
            try await services.covers.titleCards.draw(card, as: key)
            return card.version
        } catch .overloaded {
            throw .rateLimited(retryAfterSeconds: 2)
        } catch .cancelled {
            throw .cancelled
        } catch {
            services.logger.error(
                "a title card cannot be drawn", metadata: ["reason": "\(error)"])
            throw .internalError
        }
    }

    private func ask(
        _ statement: Statement, _ parameters: Parameters, _ requestID: String
    ) async throws(BookplateError) -> Rows {
        do throws(PostgresError) {
            return try await database.run(.one(statement, parameters, isReadOnly: true))[0]
        } catch {
            throw services.describe(error, requestID)
        }
    }

    private static let findVersion = Statement("SELECT public_cover_version($1, $2)")
    private static let findEditionVersion = Statement(
        "SELECT cover_version FROM editions WHERE id = $1")
    private static let findBook = Statement(
        "SELECT title, author, genre FROM public_book_title($1, $2)")
    private static let findEdition = Statement(
        "SELECT title, authors[1], genres[1] FROM editions WHERE id = $1")

    // MARK: - Writing, by the owner

    /// Makes the image the cover of the caller's book.
    ///
    /// - Returns: the public address, and whether there was no cover before.
    package func put(
        _ bytes: [UInt8], of name: String, bearerToken: String, requestID: String
    ) async throws(BookplateError) -> (url: String, isNew: Bool) {
        guard let book = UUID(name) else { throw .notFound(Book.noSuchBook) }
        let request = runner.context(bearerToken: bearerToken, requestID: requestID)
        let before = try await request.read { segment, viewer in
            segment.append(Self.findOwn, .of(viewer.userID, book))
        }
        guard before[0].count > 0 else { throw .notFound(Book.noSuchBook) }
        try request.charge(RateLimits.unitsPerImage)
        let rows = try await request.setCover(
            try await services.covers.decode(bytes), of: book, source: .manualUpload
        ) { segment, viewer in
            segment.append(Self.findOwn, .of(viewer.userID, book))
        }
        // Somebody may have removed it again by now.
        guard let version = rows.text(0, 0) else { throw .notFound(Book.noSuchBook) }
        let url = services.covers.addresses.cover(try request.caller().userID, book, version)
        return (url, before[0].text(0, 0) == nil)
    }

    /// Removes the cover of the caller's book; also where it has none.
    package func delete(
        _ name: String, bearerToken: String, requestID: String
    ) async throws(BookplateError) {
        guard let book = UUID(name) else { throw .notFound(Book.noSuchBook) }
        let request = runner.context(bearerToken: bearerToken, requestID: requestID)
        let rows = try await request.removeCover(of: book) { segment, viewer in
            segment.append(Self.findOwn, .of(viewer.userID, book))
        }
        guard rows.count > 0 else { throw .notFound(Book.noSuchBook) }
    }

    /// A row where the caller has the book; its cover's version, or null.
    private static let findOwn = Statement(
        """
        SELECT (SELECT c.version FROM covers c WHERE c.user_id = b.user_id AND c.book_id = b.id) \
        FROM books b WHERE b.user_id = $1 AND b.id = $2
        """)
}
