import Foundation
import GRDB

/// An object of the library. Its properties have the names of the schema's fields, so that the responses of the server and the rows of
/// the local database are decoded by the same code.
public typealias LibraryRecord = Codable & Hashable & Identifiable & Sendable & FetchableRecord
    & PersistableRecord

/// A type of the library that the client fetches.
protocol LibraryObject: LibraryRecord where ID == String {
    /// The name of the type in the schema.
    static var typename: String { get }
    /// The fields that the client requests.
    static var selection: String { get }
    var id: String { get }
}

/// The types of the library, each after the types that it refers to.
let libraryTypes: [any LibraryObject.Type] = [
    Shelf.self, Book.self, Read.self, ProgressEntry.self, Note.self, ReadingGoal.self,
]

/// Another object, of which only the id is known here.
public struct Reference: Codable, Hashable, Sendable {
    /// The id. It never changes.
    public let id: String
    /// Creates a reference to an object.
    public init(id: String) { self.id = id }
}

/// A list of books that the reader has made.
public struct Shelf: LibraryRecord, LibraryObject {
    static let typename = "Shelf"
    /// The name of the table in the local database.
    public static let databaseTableName = "shelf"
    static let selection = "id name position description color createdAt updatedAt"

    /// The id. It never changes.
    public let id: String
    /// At most 100 characters. Unique in the library, ignoring case.
    public var name: String
    /// The position among the shelves, from 0 without gaps.
    public var position: Int
    /// A text about the shelf, at most 1,000 characters.
    public var description: String?
    /// The color in which the app shows the shelf.
    public var color: LabelColor?
    /// The time of creation.
    public let createdAt: Timestamp
    /// The time of the last change.
    public var updatedAt: Timestamp
}

/// One reading of a book. At most one read of a book is open.
public struct Read: LibraryRecord, LibraryObject {
    static let typename = "Read"
    /// The name of the table in the local database.
    public static let databaseTableName = "read"
    static let selection = """
        id book { id } startedOn finishedOn outcome format lengthSeconds note createdAt updatedAt
        """

    /// The id. It never changes.
    public let id: String
    /// The book.
    public let book: Reference
    /// The first day. Nil if it is not known.
    public var startedOn: PartialDate?
    /// The last day, also of a read that was given up. Nil while the read is open.
    public var finishedOn: PartialDate?
    /// Whether the read is open, finished, or was given up.
    public var outcome: ReadOutcome
    /// The form in which the book is read.
    public var format: ReadFormat?
    /// The length of the audiobook in seconds.
    public var lengthSeconds: Int?
    /// The words of the reader about it.
    public var note: String?
    /// The time of creation.
    public let createdAt: Timestamp
    /// The time of the last change.
    public var updatedAt: Timestamp
}

/// How far the reader was at a point in time.
public struct ProgressEntry: LibraryRecord, LibraryObject {
    static let typename = "ProgressEntry"
    /// The name of the table in the local database.
    public static let databaseTableName = "progress"
    static let selection =
        "id read { id } at page percent seconds given note createdAt updatedAt"

    /// The id. It never changes.
    public let id: String
    /// The read.
    public let read: Reference
    /// The time at which the reader was there.
    public var at: Timestamp
    /// The page. Nil if it is not known.
    public var page: Int?
    /// The part of the book, from 0 to 100. Nil if it is not known.
    public var percent: Double?
    /// The position in the audiobook. Nil if it is not known.
    public var seconds: Int?
    /// Which of the three positions the reader gave. The others follow from the length of the book.
    public var given: ProgressPosition
    /// The words of the reader about it.
    public var note: String?
    /// The time of creation.
    public let createdAt: Timestamp
    /// The time of the last change.
    public var updatedAt: Timestamp
}

/// A quote from a book, or a thought about it.
public struct Note: LibraryRecord, LibraryObject {
    static let typename = "Note"
    /// The name of the table in the local database.
    public static let databaseTableName = "note"
    /// `given` has another name here: it may be null, unlike that of an entry, and the two are selected together.
    static let selection = """
        id book { id } text comment chapter color page percent seconds positionKind: given
        createdAt updatedAt
        """

    /// The id. It never changes.
    public let id: String
    /// The book.
    public let book: Reference
    /// The words of the book.
    public var text: String?
    /// The reader's own words.
    public var comment: String?
    /// The name of the chapter.
    public var chapter: String?
    /// The color of the highlight.
    public var color: LabelColor?
    /// The page. Nil if it is not known.
    public var page: Int?
    /// The part of the book, from 0 to 100. Nil if it is not known.
    public var percent: Double?
    /// The position in the audiobook. Nil if it is not known.
    public var seconds: Int?
    /// Which of the three positions the reader gave. Nil if none.
    public var positionKind: ProgressPosition?
    /// The time of creation.
    public let createdAt: Timestamp
    /// The time of the last change.
    public var updatedAt: Timestamp
}

/// How much a reader wants to read in a calendar year.
public struct ReadingGoal: LibraryRecord, LibraryObject {
    static let typename = "ReadingGoal"
    /// The name of the table in the local database.
    public static let databaseTableName = "goal"
    static let selection = "id year unit target createdAt updatedAt"

    /// The id. It never changes.
    public let id: String
    /// The calendar year.
    public let year: Int
    /// The unit of the target.
    public let unit: GoalUnit
    /// The number of books, pages, or hours to reach.
    public var target: Int
    /// The time of creation.
    public let createdAt: Timestamp
    /// The time of the last change.
    public var updatedAt: Timestamp
}
