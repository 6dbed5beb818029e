import GraphQL
import GraphQLPostgres
import ImageProcessing
import ObjectStorage
import Postgres

/// Resolves the URL of an image from the columns of its parent and the server's public URL.
struct CoverURL: RowLoader {
    /// The type of the parent object.
    enum Parent {
        case cover
        /// A book: its cover, or its title card if it has no cover.
        case book
        /// A card of the feed: the edition's cover, or its title card if it has no cover.
        case feedCard
    }

    private let parent: Parent

    init(_ parent: Parent) { self.parent = parent }

    /// The values of the schema's `CoverSize`.
    private static let variants: [String: ObjectVariant] = [
        "THUMBNAIL": .thumbnail, "FULL": .full, "LARGE": .large,
    ]

    private static let ofBook = (
        userID: Column("b.user_id", .uuid), id: Book.id,
        version: Column(
            "(SELECT c.version FROM covers c WHERE c.user_id = b.user_id AND c.book_id = b.id)",
            .text),
        title: Column("b.title", .text), author: Column("b.author", .text),
        genre: Column("b.genre", .text)
    )

    var parentColumns: [Column] {
        switch parent {
        case .cover: [Cover.userID, Cover.bookID, Cover.version]
        case .book:
            [
                Self.ofBook.userID, Self.ofBook.id, Self.ofBook.version, Self.ofBook.title,
                Self.ofBook.author, Self.ofBook.genre,
            ]
        case .feedCard:
            [
                FeedCard.id, FeedCard.coverVersion, FeedCard.title, FeedCard.author,
                FeedCard.genre,
            ]
        }
    }

    func prepare(_ field: SelectedField) -> any PreparedLoad { Prepared(field: self) }

    private struct Prepared: RequestLoad {
        let field: CoverURL

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: RequestContext
        ) throws(BookplateError) -> Load {
            guard let rows = parents as? RowBatch else { return .needsParents }
            let urlBuilder = request.services.covers.urls
            let size = (arguments["size"]?.string).flatMap { CoverURL.variants[$0] } ?? .full
            let urls = (0..<rows.count).map { object -> Value in
                field.url(of: object, in: rows, size, urlBuilder).map { .string($0) } ?? .null
            }
            return .ready(.each(of: LeafBatch(urls)))
        }
    }

    private func url(
        of object: Int, in rows: RowBatch, _ variant: ObjectVariant, _ urlBuilder: CoverURLBuilder
    ) -> String? {
        func uuid(_ column: Column) -> UUID? {
            rows.cell(column, of: object).flatMap { UUID(bytes: $0) }
        }
        func text(_ column: Column) -> String? {
            rows.cell(column, of: object).map { String(decoding: $0, as: UTF8.self) }
        }
        switch parent {
        case .cover:
            guard let user = uuid(Cover.userID), let book = uuid(Cover.bookID),
                let version = text(Cover.version)
            else { return nil }
            return urlBuilder.cover(user, book, version, variant)
        case .book:
            guard let user = uuid(Self.ofBook.userID), let book = uuid(Self.ofBook.id),
                let title = text(Self.ofBook.title)
            else { return nil }
            if let version = text(Self.ofBook.version) {
                return urlBuilder.cover(user, book, version, variant)
            }
            return urlBuilder.titleCard(
                of: book, user,
                TitleCard(
                    title: title, author: text(Self.ofBook.author),
                    genre: text(Self.ofBook.genre)))
        case .feedCard:
            guard let id = uuid(FeedCard.id), let title = text(FeedCard.title) else { return nil }
            if let version = text(FeedCard.coverVersion) {
                return urlBuilder.cover(ofEdition: id, version)
            }
            return urlBuilder.titleCard(
                of: id,
                TitleCard(title: title, author: text(FeedCard.author), genre: text(FeedCard.genre)))
        }
    }
}
