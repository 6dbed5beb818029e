import GraphQL
import GraphQLPostgres
import ImageProcessing
import Postgres

/// The image that represents a book or a card: its cover, or a title card if it has none.
///
/// The fields are computed from cells of the row of the book or the edition, so an image needs no statement of its own.
enum CoverImage {
    /// The minimum width in pixels of a cover that fills a card on a phone.
    static let highResolutionWidth = 400

    /// The image of an edition.
    static let ofEdition: [String: RowField] = [
        "url": .relation(ImageURL.ofEdition),
        "width": .column(Column("coalesce(e.cover_width, \(ImageLimits.full.width))", .integer)),
        "height": .column(
            Column("coalesce(e.cover_height, \(ImageLimits.full.height))", .integer)),
        "dominantColor": .computed([Column("e.cover_dominant_color", .text), FeedCard.genre]) {
            cells, writer in
            writer.write(
                cells.text(0) ?? TitleCardPalette.of(cells.text(1)).dominantColor)
            return .value
        },
        "blurHash": .computed([Column("e.cover_blur_hash", .text), FeedCard.genre]) {
            cells, writer in
            writer.write(cells.text(0) ?? TitleCardPalette.of(cells.text(1)).blurHash)
            return .value
        },
        "kind": .column(kindOfEdition),
        "source": .computed([]) { _, _ in .null },
        "updatedAt": .computed([]) { _, _ in .null },
    ]

    /// The kind of an edition's image.
    static let kindOfEdition = Column(
        """
        CASE
            WHEN e.cover_version IS NULL THEN 'TITLE_CARD'
            WHEN e.cover_width >= \(highResolutionWidth) THEN 'HIGH_RESOLUTION'
            ELSE 'THUMBNAIL'
        END
        """, .text)

    /// The image of a book: the reader's own cover, or the cover of the book's edition, or a title card.
    static let ofBook: [String: RowField] = [
        "url": .relation(ImageURL.ofBook),
        "width": .computed([shown]) { cells, writer in
            writer.write(ShownImage(cells[0]).number(.width) ?? ImageLimits.full.width)
            return .value
        },
        "height": .computed([shown]) { cells, writer in
            writer.write(ShownImage(cells[0]).number(.height) ?? ImageLimits.full.height)
            return .value
        },
        "dominantColor": .computed([shown, genreOfBook]) { cells, writer in
            writer.write(
                ShownImage(cells[0]).text(.dominantColor)
                    ?? TitleCardPalette.of(cells.text(1)).dominantColor)
            return .value
        },
        "blurHash": .computed([shown, genreOfBook]) { cells, writer in
            writer.write(
                ShownImage(cells[0]).text(.blurHash)
                    ?? TitleCardPalette.of(cells.text(1)).blurHash)
            return .value
        },
        "kind": .computed([shown]) { cells, writer in
            let width = ShownImage(cells[0]).number(.width)
            writer.write(
                width.map { $0 >= highResolutionWidth ? "HIGH_RESOLUTION" : "THUMBNAIL" }
                    ?? "TITLE_CARD")
            return .value
        },
        "source": .column(Column("(SELECT c.source FROM \(ownCover))", .text)),
        "updatedAt": .column(Column("(SELECT c.updated_at FROM \(ownCover))", .timestamp)),
    ]

    /// The image of a book as a row of its own, for `CoverEvent.image`.
    static let typeOfBook = RowType(
        name: "CoverImage", table: "books b", scope: "b.user_id = $1", id: Book.id, fields: ofBook)

    /// Defines what a book shows, in the format of `ShownImage`.
    ///
    /// A book that was added from a card without a cover shows the title card of the card, so that the app does not load
    /// another image, until the reader changes the title, the author, or the genre.
    ///
    /// Only a book whose status is READY or FETCHING can have a cover of its own, so the others need no lookup in `covers`.
    static let shown = Column(
        """
        coalesce(
            CASE WHEN b.cover_status IN ('READY', 'FETCHING') THEN (
                SELECT ARRAY[
                    NULL, c.version, c.width::text, c.height::text, c.dominant_color, c.blur_hash
                ]
                FROM \(ownCover)
            ) END,
            (
                SELECT ARRAY[
                    e.id::text, e.cover_version, e.cover_width::text, e.cover_height::text,
                    e.cover_dominant_color, e.cover_blur_hash, e.title_card_version
                ]
                FROM editions e
                WHERE e.id = b.edition_id
                    AND CASE
                        WHEN e.cover_version IS NOT NULL THEN NOT b.is_cover_removed
                        ELSE (b.title, b.genre) IS NOT DISTINCT FROM (e.title, e.genres[1])
                            AND b.authors = e.authors
                    END
            )
        )
        """, .texts)

    static let genreOfBook = Column("b.genre", .text)
    private static let ownCover = "covers c WHERE c.user_id = b.user_id AND c.book_id = b.id"
}

/// A cell of `CoverImage.shown`: an array of texts, or NULL for a title card of the book's own.
struct ShownImage {
    /// The elements in their order. For the title card of an edition, the elements that describe a cover are NULL.
    enum Element: Int {
        /// The id of the edition whose image it is; NULL for the reader's own cover.
        case edition
        case version
        /// The width of the full size.
        case width
        case height
        case dominantColor
        case blurHash
        /// The version of the edition's title card.
        case titleCardVersion
    }

    private var elements: InlineArray<7, UnsafeRawBufferPointer?> = InlineArray(repeating: nil)

    /// The elements are valid as long as the cell.
    init(_ cell: UnsafeRawBufferPointer?) {
        var index = 0
        _ = cell?.forEachArrayElement { bytes in
            guard index < elements.count else { return false }
            elements[index] = bytes
            index += 1
            return true
        }
    }

    /// The UTF-8 of an element; nil for NULL.
    subscript(element: Element) -> UnsafeRawBufferPointer? { elements[element.rawValue] }

    func text(_ element: Element) -> String? {
        self[element].map { String(decoding: $0, as: UTF8.self) }
    }

    func number(_ element: Element) -> Int? { text(element).flatMap { Int($0) } }
}
