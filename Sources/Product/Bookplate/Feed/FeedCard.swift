import GraphQL
import GraphQLPostgres
import Postgres

/// An edition of the shared catalog as a card of the feed.
enum FeedCard {
    static let id = Column("e.id", .uuid)
    private static let isbn13 = Column("e.isbn13", .text)
    static let title = Column("e.title", .text)
    private static let mainAuthor = Column("e.authors[1]", .text)
    static let genre = Column("e.genres[1]", .text)
    static let coverVersion = Column("e.cover_version", .text)
    static let titleCardVersion = Column("e.title_card_version", .text)

    static let type: RowType = RowType(
        name: "FeedCard", table: "editions e", scope: "true", id: id,
        fields: [
            "id": .column(id),
            "title": .column(title),
            "subtitle": .column(Column("e.subtitle", .text)),
            "author": .column(Column("author_text(e.authors, e.author_roles)", .text)),
            "authors": .relation(Author.ofCard),
            "genres": .relation(NamedGenres(Column("e.genres", .texts))),
            "averageRating": .column(Column("e.average_rating", .float)),
            "ratingsCount": .column(Column("e.ratings_count", .integer)),
            "pageCount": .column(Column("e.page_count", .integer)),
            "language": .column(Column("e.language", .text)),
            "publisher": .column(Column("e.publisher", .text)),
            "publishedDate": .column(Column("e.published_date", .text)),
            "isbn13": .column(isbn13),
            "isbn10": .computed([isbn13], Book.writeISBN10),
            "isbn13Hyphenated": .computed([isbn13], Book.writeHyphenatedISBN),
            "reason": .relation(FeedReason.ofCard),
            "hook": .column(Column("e.hook", .text)),
            "description": .column(Column("e.description", .text)),
            "image": .embedded(CoverImage.ofEdition),
            "purchaseLinks": .relation(
                PurchaseLinks(isbn13: isbn13, title: title, author: mainAuthor)),
            "similar": .relation(similar),
            "inLibrary": .relation(Book.ofEdition),
            "work": .relation(Work.ofEdition(id)),
            "series": .relation(SeriesEntry.ofCard),
        ])

}
