import Foundation
import GRDB

/// A book of the catalog, as the feed shows it.
public struct FeedCard: Codable, Hashable, Identifiable, Sendable {
    static let selection = """
        id title subtitle author authors { id name role } genres { id name } averageRating ratingsCount pageCount
        language publisher publishedDate isbn13 hook description work { id }
        series { series { id name } position } image { \(CoverImage.selection) }
        reason { kind card { id title } genre { id name } } purchaseLinks { url bookstore { id name } }
        """

    /// The id. It never changes.
    public let id: String
    /// The title without the subtitle.
    public let title: String
    /// The subtitle. Nil if there is none.
    public let subtitle: String?
    /// The names of the authors in one line, with commas between them.
    public let author: String?
    /// The authors and all other contributors, the main author first.
    public let authors: [Author]
    /// At most six genres, the best match first.
    public let genres: [Genre]
    /// The mean of all readers' ratings at the source of the record, from 1 to 5.
    public let averageRating: Double?
    /// The number of ratings at the source of the record.
    public let ratingsCount: Int
    /// The number of pages of the edition.
    public let pageCount: Int?
    /// A BCP 47 tag such as `en` or `pt-BR`.
    public let language: String?
    /// The publisher of the edition.
    public let publisher: String?
    /// A year, month, or day, depending on what is known.
    public let publishedDate: String?
    /// The ISBN-13 of the edition.
    public let isbn13: String?
    /// One sentence about the book. Nil if none is known.
    public let hook: String?
    /// The text of the publisher or of the catalog.
    public let description: String?
    /// The book as such, without regard to its editions. A swipe counts for all editions.
    public let work: Reference
    /// The series that the book is in.
    public let series: [SeriesEntry]
    /// The cover, or a title card.
    public let image: CoverImage?
    /// Why the feed shows the book. Nil if it is popular in general.
    public let reason: Reason?
    /// Links to bookstores.
    public let purchaseLinks: [PurchaseLink]

    /// A genre of the catalog.
    public struct Genre: Codable, Hashable, Sendable {
        /// A word or a few words with hyphens, such as `science-fiction`.
        public let id: String
        /// The name for display.
        public let name: String
    }

    /// Why the feed shows a book, for an app to say in its own words.
    public struct Reason: Codable, Hashable, Sendable {
        /// A book that leads to this one.
        public struct Book: Codable, Hashable, Sendable {
            /// The id of the card.
            public let id: String
            /// The title.
            public let title: String
        }

        /// `SERIES`, `AUTHOR`, `SIMILAR`, `GENRE`, or `FOLLOWED`. A newer server may have more kinds.
        public let kind: String
        /// The book that the reader likes, or has in the library. Nil if the kind is GENRE or FOLLOWED.
        public let card: Book?
        /// The genre that the reader likes. Nil unless the kind is GENRE.
        public let genre: Genre?
    }

    /// A link to a book in a bookstore.
    public struct PurchaseLink: Codable, Hashable, Sendable {
        /// A bookstore.
        public struct Bookstore: Codable, Hashable, Sendable {
            /// A short text, such as `bookshop.org`. Pass it to `Feed.swipe` when the reader opens the link.
            public let id: String
            /// The name for display.
            public let name: String
        }

        /// The address of the book in the store.
        public let url: URL
        /// The store.
        public let bookstore: Bookstore
    }
}

/// An action on a card. A newer server may have more values.
public struct SwipeAction: OpenEnum {
    /// The name in the schema.
    public let rawValue: String
    /// Creates a value from its name in the schema.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The reader wants to read the book, which joins the library.
    public static let like = Self(rawValue: "LIKE")
    /// The feed may show the book again after 30 days.
    public static let skip = Self(rawValue: "SKIP")
    /// The feed never shows the book again.
    public static let dislike = Self(rawValue: "DISLIKE")
    /// The reader opened a link to a store. The book joins the library.
    public static let buy = Self(rawValue: "BUY")

    /// Whether the book joins the library.
    var savesBook: Bool { self == .like || self == .buy }
}

/// The subject of a dislike. A newer server may have more values.
public struct SwipeScope: OpenEnum {
    /// The name in the schema.
    public let rawValue: String
    /// Creates a value from its name in the schema.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The book, in all its editions.
    public static let book = Self(rawValue: "BOOK")
    /// All books of the first author.
    public static let author = Self(rawValue: "AUTHOR")
    /// All books of the series.
    public static let series = Self(rawValue: "SERIES")
}
