import GraphQL
import GraphQLPostgres
import ObjectStorage
import Postgres
import Requests

/// Resolves `CoverImage.url` from the columns of the image's parent and the server's public URL.
struct ImageURL: RowLoader {
    let parentColumns: [Column]

    static let ofBook = ImageURL(parentColumns: [
        userID, Book.id, CoverImage.shown, titleCardVersionOfBook,
    ])
    static let ofEdition = ImageURL(parentColumns: [
        FeedCard.id, FeedCard.coverVersion, FeedCard.titleCardVersion,
    ])

    private static let userID = Column("b.user_id", .uuid)
    private static let titleCardVersionOfBook = Column("b.title_card_version", .text)

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
        case book(user: Int, id: Int, shown: Int, titleCardVersion: Int)
        case edition(id: Int, version: Int, titleCardVersion: Int)

        /// The columns of the rows show what the parents are.
        init?(_ rows: RowBatch) {
            if let user = rows.index(of: userID), let id = rows.index(of: Book.id),
                let shown = rows.index(of: CoverImage.shown),
                let titleCardVersion = rows.index(of: titleCardVersionOfBook)
            {
                self = .book(
                    user: user, id: id, shown: shown, titleCardVersion: titleCardVersion)
            } else if let id = rows.index(of: FeedCard.id),
                let version = rows.index(of: FeedCard.coverVersion),
                let titleCardVersion = rows.index(of: FeedCard.titleCardVersion)
            {
                self = .edition(id: id, version: version, titleCardVersion: titleCardVersion)
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
            case .edition(let id, let version, let titleCardVersion):
                guard let id = uuid(id) else { return nil }
                if let version = cell(version) { return .cover(ofEdition: .id(id), version) }
                return cell(titleCardVersion).map { .titleCard(ofEdition: .id(id), $0) }
            case .book(let user, let id, let shown, let titleCardVersion):
                guard let user = uuid(user), let book = uuid(id) else { return nil }
                let shown = ShownImage(cell(shown))
                if let version = shown[.version] {
                    return shown[.edition].map { .cover(ofEdition: .text($0), version) }
                        ?? .cover(user, book, version)
                }
                if let edition = shown[.edition], let version = shown[.titleCardVersion] {
                    return .titleCard(ofEdition: .text(edition), version)
                }
                return cell(titleCardVersion).map { .titleCard(of: book, user, $0) }
            }
        }
    }
}
