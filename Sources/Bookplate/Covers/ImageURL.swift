import GraphQL
import GraphQLPostgres
import ImageProcessing
import ObjectStorage
import Postgres

/// Resolves the URL of an image from the columns of its parent and the server's public URL: `Image.url`, `Cover.url`, and
/// `coverUrl` of books and cards.
struct ImageURL: RowLoader {
    let parentColumns: [Column]

    static let ofCover = ImageURL(parentColumns: [Cover.userID, Cover.bookID, Cover.version])
    static let ofBook = ImageURL(parentColumns: [
        userID, Book.id, Image.shown, titleOfBook, authorOfBook, Image.genreOfBook,
    ])
    static let ofEdition = ImageURL(parentColumns: [
        FeedCard.id, FeedCard.coverVersion, FeedCard.title, FeedCard.author, FeedCard.genre,
    ])

    private static let userID = Column("b.user_id", .uuid)
    private static let titleOfBook = Column("b.title", .text)
    private static let authorOfBook = Column("b.author", .text)

    /// The values of the schema's `CoverSize`.
    private static let variants: [String: ObjectVariant] = [
        "THUMBNAIL": .thumbnail, "FULL": .full, "LARGE": .large,
    ]

    func prepare(_ field: SelectedField) -> any PreparedLoad { Prepared() }

    private struct Prepared: RequestLoad {
        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: RequestContext
        ) throws(BookplateError) -> Load {
            guard let rows = parents as? RowBatch else { return .needsParents }
            let urls = request.services.covers.urls
            let size = (arguments["size"]?.string).flatMap { ImageURL.variants[$0] } ?? .full
            // The columns of the rows show what the parents are.
            let url =
                if rows.contains(Image.shown) {
                    urlOfBook
                } else if rows.contains(Cover.version) {
                    urlOfCover
                } else {
                    urlOfEdition
                }
            let values = (0..<rows.count).map { object -> Value in
                url(ParentRow(rows: rows, object: object), urls, size).map { .string($0) } ?? .null
            }
            return .ready(.each(of: LeafBatch(values)))
        }
    }

    private struct ParentRow {
        let rows: RowBatch
        let object: Int

        func cell(_ column: Column) -> UnsafeRawBufferPointer? { rows.cell(column, of: object) }
        func uuid(_ column: Column) -> UUID? { cell(column).flatMap { UUID(bytes: $0) } }
        func text(_ column: Column) -> String? {
            cell(column).map { String(decoding: $0, as: UTF8.self) }
        }
    }

    private static func urlOfCover(
        _ row: ParentRow, _ urls: ImageURLBuilder, _ size: ObjectVariant
    ) -> String? {
        guard let user = row.uuid(Cover.userID), let book = row.uuid(Cover.bookID),
            let version = row.text(Cover.version)
        else { return nil }
        return urls.cover(user, book, version, size)
    }

    private static func urlOfBook(
        _ row: ParentRow, _ urls: ImageURLBuilder, _ size: ObjectVariant
    ) -> String? {
        guard let user = row.uuid(userID), let book = row.uuid(Book.id),
            let title = row.text(titleOfBook)
        else { return nil }
        let shown = ShownImage(row.cell(Image.shown))
        let edition = shown.text(.edition).flatMap { UUID($0) }
        if let version = shown.text(.version) {
            return edition.map { urls.cover(ofEdition: $0, version, size) }
                ?? urls.cover(user, book, version, size)
        }
        var card = TitleCard(
            title: title, author: row.text(authorOfBook), genre: row.text(Image.genreOfBook))
        guard let edition else { return urls.titleCard(of: book, user, card, size) }
        // The book has the title and the genre of the edition. Its author may be the text of several authors.
        card.author = shown.text(.author)
        return urls.titleCard(of: edition, card, size)
    }

    private static func urlOfEdition(
        _ row: ParentRow, _ urls: ImageURLBuilder, _ size: ObjectVariant
    ) -> String? {
        guard let id = row.uuid(FeedCard.id), let title = row.text(FeedCard.title) else {
            return nil
        }
        if let version = row.text(FeedCard.coverVersion) {
            return urls.cover(ofEdition: id, version, size)
        }
        let card = TitleCard(
            title: title, author: row.text(FeedCard.author), genre: row.text(FeedCard.genre))
        return urls.titleCard(of: id, card, size)
    }
}
