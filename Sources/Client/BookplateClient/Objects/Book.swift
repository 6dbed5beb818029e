import Foundation
import GRDB

/// A book in the reader's library.
public struct Book: LibraryRecord, LibraryObject {
    static let typename = "Book"
    /// The name of the table in the local database.
    public static let databaseTableName = "book"
    static let selection = """
        id title subtitle author authors { id name role } isbn13 publisher publishedDate pageCount language category
        genre description binding moods privateNotes status currentPage series { series { id name } position }
        shelves { id } review { stars text hasSpoilers createdAt updatedAt }
        image { \(CoverImage.selection) }
        addedAt updatedAt
        """

    /// The id. It never changes.
    public let id: String
    /// At most 500 characters. The ISBN as it was scanned, until the server has found the book.
    public var title: String
    /// The subtitle. Nil if there is none.
    public var subtitle: String?
    /// The names of the authors in one line, with commas between them.
    public var author: String?
    /// The authors and all other contributors, the main author first.
    public var authors: [Author]
    /// The ISBN-13 of the edition.
    public var isbn13: String?
    /// The publisher of the edition.
    public var publisher: String?
    /// A year, month, or day, depending on what is known.
    public var publishedDate: String?
    /// The number of pages of the edition.
    public var pageCount: Int?
    /// A BCP 47 tag such as `en` or `pt-BR`.
    public var language: String?
    /// The reader's own grouping.
    public var category: String?
    /// The reader's own word, or the genre of the catalog.
    public var genre: String?
    /// The text of the publisher or of the catalog.
    public var description: String?
    /// How the edition is bound.
    public var binding: String?
    /// The moods of the book in the words of the reader.
    public var moods: [String]
    /// The reader's notes about the book as a whole.
    public var privateNotes: String?
    /// The status of the book.
    public var status: ReadingStatus
    /// The page that the reader has reached.
    public var currentPage: Int?
    /// The series that the book is in.
    public var series: [SeriesEntry]
    /// The shelves that the book is on.
    public var shelves: [Reference]
    /// The reader's review. Nil if there is none.
    public var review: Review?
    /// Nil until the server has the book.
    public var image: CoverImage?
    /// The time at which the book was added to the library.
    public let addedAt: Timestamp
    /// The time of the last change.
    public var updatedAt: Timestamp
}

/// A person in one role, as an author of a book.
public struct Author: Codable, Hashable, Sendable {
    /// Computed by the server from the name. Nil until the server has the book.
    public let id: String?
    /// The name.
    public var name: String
    /// The role of the person in the making of the book.
    public var role: AuthorRole

    /// Creates an author for a new or changed book.
    public init(_ name: String, role: AuthorRole = .author) {
        self.id = nil
        self.name = name
        self.role = role
    }

    var input: JSON { ["name": .string(name), "role": .string(role.rawValue)] }
}

/// A reader's opinion of a book: a rating, a text, or both.
public struct Review: Codable, Hashable, Sendable {
    /// From 0.5 to 5, a multiple of 0.5.
    public var stars: Double?
    /// The words of the review.
    public var text: String?
    /// Whether the text reveals the plot.
    public var hasSpoilers: Bool
    /// The time of creation.
    public let createdAt: Timestamp
    /// The time of the last change.
    public var updatedAt: Timestamp
}

/// A book's place in a series.
public struct SeriesEntry: Codable, Hashable, Sendable {
    /// A series of books.
    public struct Series: Codable, Hashable, Sendable {
        /// The id. It never changes.
        public let id: String
        /// The name.
        public let name: String
    }

    /// The series that the book is in.
    public let series: Series
    /// The position as text, such as `2`, `2.5`, or `1-3`.
    public let position: String?
}

/// The image of a book: its cover, or a title card if there is none.
public struct CoverImage: Codable, Hashable, Sendable {
    static let selection = """
        url thumbnailUrl: url(size: THUMBNAIL) largeUrl: url(size: LARGE) width height dominantColor blurHash kind
        """

    /// The address of the image in the size `full`. The content of an address never changes. A cover that has not been sent has an
    /// address that only `Covers` can read.
    public let url: URL
    /// The address of a small version.
    public let thumbnailUrl: URL
    /// The address of a version for tablets and zooming.
    public let largeUrl: URL
    /// The width of the image in pixels.
    public let width: Int
    /// The height of the image in pixels.
    public let height: Int
    /// The most frequent color, as `#RRGGBB`.
    public let dominantColor: String
    /// A placeholder while the image loads.
    public let blurHash: String
    /// `TITLE_CARD` if the book has no cover.
    public let kind: String
}
