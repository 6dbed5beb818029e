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
            let size = (arguments["size"]?.string).flatMap { ImageURL.variants[$0] } ?? .full
            guard let batch = URLBatch(rows, request.services.covers.urls, size) else {
                return .needsParents
            }
            return .ready(.each(of: batch))
        }
    }

    /// The indices of the cells that URLs consist of.
    private enum Cells {
        case cover(user: Int, book: Int, version: Int)
        case book(user: Int, id: Int, shown: Int, title: Int, author: Int, genre: Int)
        case edition(id: Int, version: Int, title: Int, author: Int, genre: Int)

        /// The columns of the rows show what the parents are.
        init?(_ rows: RowBatch) {
            if let user = rows.index(of: userID), let id = rows.index(of: Book.id),
                let shown = rows.index(of: Image.shown), let title = rows.index(of: titleOfBook),
                let author = rows.index(of: authorOfBook),
                let genre = rows.index(of: Image.genreOfBook)
            {
                self = .book(
                    user: user, id: id, shown: shown, title: title, author: author, genre: genre)
            } else if let user = rows.index(of: Cover.userID),
                let book = rows.index(of: Cover.bookID),
                let version = rows.index(of: Cover.version)
            {
                self = .cover(user: user, book: book, version: version)
            } else if let id = rows.index(of: FeedCard.id),
                let version = rows.index(of: FeedCard.coverVersion),
                let title = rows.index(of: FeedCard.title),
                let author = rows.index(of: FeedCard.author),
                let genre = rows.index(of: FeedCard.genre)
            {
                self = .edition(
                    id: id, version: version, title: title, author: author, genre: genre)
            } else {
                return nil
            }
        }
    }

    /// One URL for each parent, which is written directly from the cells of the parent's row.
    private final class URLBatch: ObjectBatch {
        private let parents: RowBatch
        private let urls: ImageURLBuilder
        private let size: ObjectVariant
        private let cells: Cells

        init?(_ parents: RowBatch, _ urls: ImageURLBuilder, _ size: ObjectVariant) {
            guard let cells = Cells(parents) else { return nil }
            self.parents = parents
            self.urls = urls
            self.size = size
            self.cells = cells
        }

        var count: Int { parents.count }

        func write(field: Int, of object: Int, to writer: inout ResponseWriter) -> LeafResult {
            let row = parents.row(of: object)
            guard let address = address(row) else { return .null }
            urls.write(address, size, to: &writer)
            return .value
        }

        private func address(_ row: Int) -> ImageAddress? {
            func cell(_ index: Int) -> UnsafeRawBufferPointer? { parents.rows.bytes(row, index) }
            func uuid(_ index: Int) -> UUID? { parents.rows.uuid(row, index) }
            switch cells {
            case .cover(let user, let book, let version):
                guard let user = uuid(user), let book = uuid(book), let version = cell(version)
                else { return nil }
                return .cover(user, book, version)
            case .edition(let id, let version, let title, let author, let genre):
                guard let id = uuid(id), let title = cell(title) else { return nil }
                if let version = cell(version) { return .cover(ofEdition: id, version) }
                return .titleCard(of: id, TitleCard.version(title, cell(author), cell(genre)))
            case .book(let user, let id, let shown, let title, let author, let genre):
                guard let user = uuid(user), let book = uuid(id), let title = cell(title)
                else { return nil }
                let shown = ShownImage(cell(shown))
                let edition = shown.bytes(.edition).flatMap { UUID(text: $0) }
                if let version = shown.bytes(.version) {
                    return edition.map { .cover(ofEdition: $0, version) }
                        ?? .cover(user, book, version)
                }
                guard let edition else {
                    return .titleCard(
                        of: book, user, TitleCard.version(title, cell(author), cell(genre)))
                }
                // The book has the title and the genre of the edition. Its author may be the text of several authors.
                return .titleCard(
                    of: edition, TitleCard.version(title, shown.bytes(.author), cell(genre)))
            }
        }
    }
}
