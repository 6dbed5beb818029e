import Basics
import GraphQLServing
import ImageProcessing
import ObjectStorage
import Postgres
import Requests

/// Handles HTTP requests for images outside GraphQL. An instance belongs to one event loop.
package final class CoverEndpoints {
    private let runner: RequestRunner
    private let database: ConnectionPool
    private let services: Services

    package init(_ runner: RequestRunner, database: ConnectionPool, services: Services) {
        self.runner = runner
        self.database = database
        self.services = services
    }

    package var store: any ObjectStore { services.covers.store }

    // MARK: - Public reads

    /// Returns the current version of an object; nil if the object does not exist, or if another version was requested.
    ///
    /// Draws a title card that is not in the store.
    ///
    /// - Parameter requested: The version in the URL; nil for a URL without a version.
    package func currentVersion(
        of key: ObjectKey, requested: String?, requestID: String
    ) async throws(BookplateError) -> String? {
        guard let name = UUID(key.name) else { return nil }
        var current: String?
        var card: PublicTitleCard?
        switch (key.bucket, UUID(key.folder)) {
        case (.bookCovers, let user?):
            current = try await first(Self.bookCoverVersion, .of(user, name), requestID)
        case (.bookCovers, nil): return nil
        case (.editionCovers, _):
            current = try await first(Self.editionCoverVersion, .of(name), requestID)
        case (.titleCards, let user?):
            card = try await first(Self.bookTitle, .of(user, name), requestID)
        case (.titleCards, nil):
            card = try await first(Self.editionTitle, .of(name), requestID)
        }
        current = card?.version ?? current
        guard requested == nil || requested == current else { return nil }
        if let card { try await draw(card, key) }
        return current
    }

    /// Returns the content of a file in the store; nil if it does not exist.
    ///
    /// - Throws: `.rateLimited` if too many are read for this client or in total, `.serviceUnavailable` if the store does not
    ///   respond, or `.internalError`.
    package func open(
        _ path: ObjectPath, for client: ClientAddress?, requestID: String
    ) async throws(BookplateError) -> ObjectContent? {
        try await services.covers.bucketReads.run(for: client.map { RateKey($0) }) {
            () async throws(BookplateError) in
            try await content(path, requestID: requestID)
        }
    }

    private func content(
        _ path: ObjectPath, requestID: String
    ) async throws(BookplateError) -> ObjectContent? {
        do throws(ObjectError) {
            return try await store.open(path)
        } catch {
            throw services.covers.bookplateError(
                error, "an image cannot be read", requestID: requestID)
        }
    }

    /// Draws the title card unless it is in the store.
    private func draw(_ card: PublicTitleCard, _ key: ObjectKey) async throws(BookplateError) {
        do throws(TitleCards.Failure) {
            try await services.covers.titleCards.draw(
                card.card, version: card.version, as: key)
        } catch .image(.overloaded) {
            throw .rateLimited(retryAfterSeconds: 2)
        } catch .image(.cancelled) {
            throw .cancelled
        } catch .store(let error) {
            throw services.covers.bookplateError(error, "a title card cannot be stored")
        } catch {
            services.logger.error(
                "a title card cannot be drawn", metadata: ["reason": "\(error)"])
            throw .internalError
        }
    }

    /// Returns the first row of a statement's result.
    private func first<Row>(
        _ query: TypedStatement<Row>, _ parameters: Parameters, _ requestID: String
    ) async throws(BookplateError) -> Row? {
        do throws(PostgresError) {
            var pipeline = Pipeline.one(query.statement, parameters, isReadOnly: true)
            pipeline.owner = Self.imageReaders
            return try await database.run(pipeline)[0].decode(Row.self).first
        } catch {
            throw services.environment.bookplateError(error, requestID, isReadOnly: true)
        }
    }

    /// All clients that read images, which need no token. Together they use the share of one reader.
    private static let imageReaders = PipelineOwner.address(UUID(high: 0, low: 2))

    private static let bookCoverVersion = TypedStatement<String>(
        "SELECT public_cover_version($1, $2)")
    private static let editionCoverVersion = TypedStatement<String>(
        "SELECT cover_version FROM editions WHERE id = $1")
    private static let bookTitle = TypedStatement<PublicTitleCard>(
        """
        SELECT title_card_version(title, author, genre), title, author, genre
        FROM public_book_title($1, $2)
        """)
    private static let editionTitle = TypedStatement<PublicTitleCard>(
        "SELECT title_card_version, title, authors[1], genres[1] FROM editions WHERE id = $1")

    /// A title card with the version of its URL.
    private struct PublicTitleCard: RowDecodable {
        let version: String
        let card: TitleCard

        init?(_ row: inout RowReader) {
            guard let version = row.text(), let card = TitleCard(&row) else { return nil }
            self.version = version
            self.card = card
        }
    }

    // MARK: - Writes by the owner

    /// Makes the image the cover of the caller's book.
    ///
    /// - Returns: The public URL, and whether the book had no cover before.
    package func put(
        _ image: StoredBytes, of name: String, bearerToken: String, requestID: String
    ) async throws(BookplateError) -> (url: String, isNew: Bool) {
        guard let book = UUID(name) else { throw .notFound(.noSuchBook) }
        let request = runner.context(bearerToken: bearerToken, requestID: requestID)
        let before = try await request.read { pipeline, viewer in
            pipeline.append(OwnCover.query, .of(viewer.userID, book))
        }
        guard let before = before.first else { throw .notFound(.noSuchBook) }
        try request.charges.charge(RateLimits.unitsPerImage)
        let after = try await request.setCover(
            try await services.covers.decode(image), of: book, source: .manualUpload
        ) { pipeline, viewer in
            pipeline.appendForRows(OwnCover.query.statement, .of(viewer.userID, book))
        }
        // A concurrent request may have removed the book or its cover.
        guard let version = after.decode(OwnCover.self).first?.version else {
            throw .notFound(.noSuchBook)
        }
        let url = services.covers.urls.cover(try request.caller().userID, book, version)
        return (url, before.version == nil)
    }

    /// Removes the cover of the caller's book. Succeeds if the book has no cover.
    package func delete(
        _ name: String, bearerToken: String, requestID: String
    ) async throws(BookplateError) {
        guard let book = UUID(name) else { throw .notFound(.noSuchBook) }
        let request = runner.context(bearerToken: bearerToken, requestID: requestID)
        let rows = try await request.removeCover(of: book) { pipeline, viewer in
            pipeline.appendForRows(OwnCover.query.statement, .of(viewer.userID, book))
        }
        guard rows.count > 0 else { throw .notFound(.noSuchBook) }
    }

    /// The cover of one of the caller's books.
    private struct OwnCover: RowDecodable {
        /// Nil if the book has no cover.
        let version: String?

        init?(_ row: inout RowReader) { version = row.text() }

        static let query = TypedStatement<Self>(
            """
            SELECT (SELECT c.version FROM covers c WHERE c.user_id = b.user_id AND c.book_id = b.id)
            FROM books b
            WHERE b.user_id = $1 AND b.id = $2
            """)
    }
}
