import GraphQL
import GraphQLPostgres
import Postgres

/// A book in a reader's library.
enum Book {
    static let id = Column("b.id", .uuid)
    static let status = Column("b.status", .text)
    private static let editionID = Column("b.edition_id", .uuid)
    private static let isbn13 = Column("b.isbn13", .text)
    private static let title = Column("b.title", .text)
    private static let mainAuthor = Column("b.authors[1]", .text)

    static let type: RowType = RowType(
        name: "Book", table: "books b", scope: "b.user_id = $1", id: id,
        fields: [
            "id": .column(id),
            "title": .column(title),
            "subtitle": .column(Column("b.subtitle", .text)),
            "author": .column(Column("b.author", .text)),
            "authors": .relation(Author.ofBook),
            "isbn13": .column(isbn13),
            "isbn10": .computed([isbn13], writeISBN10),
            "isbn13Hyphenated": .computed([isbn13], writeHyphenatedISBN),
            "publisher": .column(Column("b.publisher", .text)),
            "publishedDate": .column(Column("b.published_date", .text)),
            "pageCount": .column(Column("b.page_count", .integer)),
            "language": .column(Column("b.language", .text)),
            "category": .column(Column("b.category", .text)),
            "genre": .column(CoverImage.genreOfBook),
            "description": .column(Column("b.description", .text)),
            "binding": .column(Column("b.binding", .text)),
            "originalPublicationYear": .column(Column("b.original_year", .integer)),
            "moods": .column(Column("b.moods", .texts)),
            "privateNotes": .column(Column("b.private_notes", .text)),
            "contentNotes": .column(Column("b.content_notes", .text)),
            "status": .column(status),
            "currentPage": .column(Column("b.current_page", .integer)),
            "shelves": .relation(Shelf.ofBook),
            "card": .relation(
                RowRelation(
                    .one, FeedCard.type, key: editionID, matching: "e.id",
                    from: "editions e WHERE e.id = $2")),
            "work": .relation(Work.ofEdition(editionID)),
            "series": .relation(SeriesEntry.ofBook),
            "purchaseLinks": .relation(
                PurchaseLinks(isbn13: isbn13, title: title, author: mainAuthor)),
            "review": .relation(Review.ofBook),
            "reads": .relation(Read.ofBook),
            "currentRead": .relation(Read.openOfBook),
            "notes": .relation(Note.ofBook),
            "noteCount": .column(Note.countOfBook),
            "copies": .relation(BookCopy.ofBook),
            "isOwned": .column(BookCopy.isOwned),
            "image": .embedded(CoverImage.ofBook),
            "coverStatus": .column(Cover.statusOfBook),
            "addedAt": .column(Column("b.added_at", .timestamp)),
            "updatedAt": .column(Column("b.updated_at", .timestamp)),
        ])

    /// The caller's copy of an edition.
    static let ofEdition = RowRelation(
        .one, type, key: FeedCard.id, matching: "b.edition_id",
        from: "books b WHERE b.user_id = $1 AND b.edition_id = $2")

    /// Writes the ISBN-10 of the first cell's ISBN-13.
    static let writeISBN10: @Sendable (RowCells, inout ResponseWriter) -> LeafResult = {
        cells, writer in
        guard let isbn = ISBNDigits(cells[0]), isbn.isISBN, isbn.hasISBN10 else { return .null }
        writer.append(UInt8(ascii: "\""))
        isbn.appendISBN10(to: &writer)
        writer.append(UInt8(ascii: "\""))
        return .value
    }

    /// Writes the first cell's ISBN-13 with its hyphens.
    static let writeHyphenatedISBN: @Sendable (RowCells, inout ResponseWriter) -> LeafResult = {
        cells, writer in
        guard let isbn = ISBNDigits(cells[0]), isbn.isISBN else { return .null }
        writer.append(UInt8(ascii: "\""))
        isbn.appendHyphenated(.current, to: &writer)
        writer.append(UInt8(ascii: "\""))
        return .value
    }
}
