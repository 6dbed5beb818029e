import Basics
import BookSources
import GraphQL
import Identity
import Postgres
import Requests

/// One record of a file to import.
struct ImportRecord: Equatable {
    enum Content: Equatable {
        case book(ImportedBook)
        case shelf(ImportedShelf)
        case swipe(ImportedSwipe)
        case profile(ImportedProfile)
        case progress(ImportedProgress)
        case note(ImportedNote)
        case document(ImportedDocument)
        case position(ImportedPosition)
        case nothing
    }

    /// The number of the record's line in the file, from 1.
    let line: Int
    var content: Content
    /// Why fields were left out, or the whole record.
    var problems: [ImportProblem] = []

    /// The record as an element of the parameter of the SQL function `import_records`.
    var json: Value {
        var members: [Value.Member] = [.init("line", .int(line))]
        switch content {
        case .book(let book): members.append(.init("book", book.json))
        case .shelf(let shelf): members.append(.init("shelf", shelf.json))
        case .swipe(let swipe): members.append(.init("swipe", swipe.json))
        case .profile(let profile): members.append(.init("profile", profile.json))
        case .progress(let progress): members.append(.init("progress", progress.json))
        case .note(let note): members.append(.init("note", note.json))
        case .document(let document): members.append(.init("document", document.json))
        case .position(let position): members.append(.init("position", position.json))
        case .nothing: break
        }
        if !problems.isEmpty {
            members.append(
                .init(
                    "problems",
                    .list(
                        problems.map {
                            .object([
                                .init("field", $0.field.map { .string($0) } ?? .null),
                                .init("message", .string($0.message)),
                            ])
                        })))
        }
        return .object(members)
    }
}

/// A book to import.
package struct ImportedBook: Equatable {
    package var id: UUID
    var cardID: UUID?
    package var title: String
    var subtitle: String?
    package var authors = BookAuthors.none
    package var isbn: ISBN?
    /// The id of the edition at Goodreads.
    var goodreadsID: String?
    var publisher: String?
    var publishedDate: String?
    var pageCount: Int32?
    var language: String?
    var category: String?
    var genre: String?
    var description: String?
    var status = ReadingStatus.wantToRead
    var currentPage: Int32?
    var addedAt: Instant?
    /// The day on which the reader has added the book, in the reader's time zone, if `addedAt` is not known.
    var addedOn: String?
    package var startedAt: Instant?
    package var finishedAt: Instant?
    var updatedAt: Instant?
    package var shelves: [String] = []
    /// The positions on these shelves; empty if the file does not have them.
    var shelfPositions: [String] = []
    var review: ImportedReview?
    /// How the edition is bound, or in which format it is, in the words of the source.
    var binding: String?
    /// The year of the first edition; negative before our era.
    var originalYear: Int32?
    var privateNotes: String?
    var contentNotes: String?
    var moods: [String] = []
    var series: ImportedSeries?
    /// The readings, the oldest first.
    package var reads: [ImportedRead] = []
    package var copies: [ImportedCopy] = []
    /// How often the book has been read to its end, including readings that are not in `reads`.
    var readCount = 0
    /// The length of the audiobook. All reads of it get this length.
    var lengthSeconds: Int32?

    static let bindingCharactersMax = 100
    static let notesCharactersMax = 100_000
    static let contentNotesCharactersMax = 2_000
    static let moodsMax = 20

    /// Whether the id is that of a book of Bookplate, so that a book with another id is another book.
    var isIdentified = false
    /// Whether the book is from an archive of Bookplate, and so has all of its facts.
    var isArchived = false
    /// How a book of an archive is linked to its card.
    var linkedBy: String?
    /// Whether a cover is searched if the book is new.
    var wantsCover = false

    package var json: Value {
        var members: [Value.Member] = []
        func add(_ name: String, _ value: Value?) {
            if let value { members.append(.init(name, value)) }
        }
        add("id", .string(id.description))
        add("cardId", cardID.map { .string($0.description) })
        if isIdentified { add("isIdentified", .boolean(true)) }
        if isArchived { add("isArchived", .boolean(true)) }
        add("linkedBy", linkedBy.map { .string($0) })
        if wantsCover { add("wantsCover", .boolean(true)) }
        add("title", .string(title))
        add("subtitle", subtitle.map { .string($0) })
        add("authors", .list(authors.names.map { .string($0) }))
        add("authorRoles", .list(authors.roles.map { .string($0) }))
        add("isbn13", isbn.map { .string($0.description) })
        add("goodreadsId", goodreadsID.map { .string($0) })
        add("publisher", publisher.map { .string($0) })
        add("publishedDate", publishedDate.map { .string($0) })
        add("pageCount", pageCount.map { .int(Int($0)) })
        add("language", language.map { .string($0) })
        add("category", category.map { .string($0) })
        add("genre", genre.map { .string($0) })
        add("description", description.map { .string($0) })
        add("status", .string(status.rawValue))
        add("currentPage", currentPage.map { .int(Int($0)) })
        add("addedAt", addedAt.map { .string($0.preciseText) })
        add("addedOn", addedOn.map { .string($0) })
        add("startedAt", startedAt.map { .string($0.preciseText) })
        add("finishedAt", finishedAt.map { .string($0.preciseText) })
        add("updatedAt", updatedAt.map { .string($0.preciseText) })
        add("shelves", .list(shelves.map { .string($0) }))
        if !shelfPositions.isEmpty {
            add("shelfPositions", .list(shelfPositions.map { .string($0) }))
        }
        add("binding", binding.map { .string($0) })
        add("originalYear", originalYear.map { .int(Int($0)) })
        add("privateNotes", privateNotes.map { .string($0) })
        add("contentNotes", contentNotes.map { .string($0) })
        add("moods", .list(moods.map { .string($0) }))
        add("seriesName", series.map { .string($0.name) })
        add("seriesPosition", series?.position.map { .string($0) })
        add("reads", .list(reads.map(\.json)))
        if !copies.isEmpty { add("copies", .list(copies.map(\.json))) }
        if let review {
            add("reviewId", review.id.map { .string($0.description) })
            add("quarterStars", review.quarterStars.map { .int($0) })
            add("review", review.text.map { .string($0) })
            add("reviewedAt", review.createdAt.map { .string($0.preciseText) })
            add("reviewedOn", review.createdOn.map { .string($0) })
            add("reviewUpdatedAt", review.updatedAt.map { .string($0.preciseText) })
            add("hasSpoilers", .boolean(review.hasSpoilers))
        }
        return .object(members)
    }
}

/// A review with a rating, a text, or both.
struct ImportedReview: Equatable {
    var id: UUID?
    /// From 1 to 10.
    var quarterStars: Int?
    var text: String?
    var hasSpoilers = false
    var createdAt: Instant?
    /// The day of the reader if the time is not known, such as 2021-02-01.
    var createdOn: String?
    var updatedAt: Instant?
}

/// A shelf to import.
struct ImportedShelf: Equatable {
    var id: UUID?
    var name: String
    var description: String?
    var color: String?
    var isUpNext = false
    var createdAt: Instant?

    package var json: Value {
        var members: [Value.Member] = [.init("name", .string(name))]
        if let description { members.append(.init("description", .string(description))) }
        if let color { members.append(.init("color", .string(color))) }
        if isUpNext { members.append(.init("isUpNext", .boolean(true))) }
        if let id { members.append(.init("id", .string(id.description))) }
        if let createdAt { members.append(.init("createdAt", .string(createdAt.preciseText))) }
        return .object(members)
    }
}

/// The profile of an account. The import sets only values that the account does not have.
struct ImportedProfile: Equatable {
    var displayName: String?
    var preferredGenres: [String] = []
    var languages: [String] = []
    var timeZone: String?
    var readingGoals: [ImportedGoal] = []
    var followedAuthors: [ImportedFollow] = []
    var scans: [ImportedScan] = []

    var json: Value {
        .object([
            .init("readingGoals", .list(readingGoals.map(\.json))),
            .init("followedAuthors", .list(followedAuthors.map(\.json))),
            .init("scans", .list(scans.map(\.json))),
            .init("timeZone", timeZone.map { .string($0) } ?? .null),
            .init("displayName", displayName.map { .string($0) } ?? .null),
            .init("preferredGenres", .list(preferredGenres.map { .string($0) })),
            .init("languages", .list(languages.map { .string($0) })),
        ])
    }
}

/// A followed person of a Bookplate library.
struct ImportedFollow: Equatable {
    var name: String
    var followedAt: Instant?

    /// The person as an element of the parameter of the SQL function `import_followed_authors`.
    var json: Value {
        .object([
            .init("name", .string(name)),
            .init("followedAt", followedAt.map { .string($0.preciseText) } ?? .null),
        ])
    }
}

/// A scan of a Bookplate library.
struct ImportedScan: Equatable {
    var id: UUID
    var isbn: ISBN
    var scannedAt: Instant
    var outcome: String

    /// The scan as an element of the parameter of the SQL function `import_scans`.
    var json: Value {
        .object([
            .init("id", .string(id.description)), .init("isbn", .string(isbn.description)),
            .init("scannedAt", .string(scannedAt.preciseText)),
            .init("outcome", .string(outcome)),
        ])
    }
}

/// A goal of a Bookplate library. The import adds it unless the reader has one for the same year and unit.
struct ImportedGoal: Equatable {
    var id: UUID?
    var year: Int
    var unit: String
    var target: Int
    var createdAt: Instant?
    var updatedAt: Instant?

    /// The goal as an element of the parameter of the SQL function `import_goals`.
    var json: Value {
        var members: [Value.Member] = [
            .init("year", .int(year)), .init("unit", .string(unit)), .init("target", .int(target)),
        ]
        if let id { members.append(.init("id", .string(id.description))) }
        if let createdAt { members.append(.init("createdAt", .string(createdAt.preciseText))) }
        if let updatedAt { members.append(.init("updatedAt", .string(updatedAt.preciseText))) }
        return .object(members)
    }
}

/// A point in a read of a Bookplate library.
struct ImportedProgress: Equatable {
    enum Position: Equatable {
        case page(Int), percent(Double), seconds(Int)

        var member: Value.Member {
            switch self {
            case .page(let page): .init("page", .int(page))
            case .percent(let percent): .init("percent", .float(percent))
            case .seconds(let seconds): .init("seconds", .int(seconds))
            }
        }
    }

    var id: UUID
    var readID: UUID
    var at: Instant
    var position: Position
    var note: String?
    var createdAt: Instant?
    var updatedAt: Instant?

    /// The entry as an element of the parameter of the SQL function `import_progress`.
    var json: Value {
        var members: [Value.Member] = [
            .init("id", .string(id.description)), .init("readId", .string(readID.description)),
            .init("at", .string(at.preciseText)), position.member,
        ]
        if let note { members.append(.init("note", .string(note))) }
        if let createdAt { members.append(.init("createdAt", .string(createdAt.preciseText))) }
        if let updatedAt { members.append(.init("updatedAt", .string(updatedAt.preciseText))) }
        return .object(members)
    }
}

/// A swipe of a Bookplate library.
struct ImportedSwipe: Equatable {
    var cardID: UUID
    var action: String
    var scope = SwipeScope.book
    var store: String?
    var swipedAt: Instant

    var json: Value {
        var members: [Value.Member] = [
            .init("cardId", .string(cardID.description)), .init("action", .string(action)),
            .init("scope", .string(scope.rawValue)),
            .init("swipedAt", .string(swipedAt.preciseText)),
        ]
        if let store { members.append(.init("store", .string(store))) }
        return .object(members)
    }
}

extension UUID {
    /// Returns the id of an object that has another id in its source. It is the same each time, so that a second import
    /// finds the object.
    package static func derived(from parts: String...) -> UUID {
        let hash = sha256(Array(parts.joined(separator: "\u{1F}").utf8))
        let number = { (start: Int) in
            hash[start..<start + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
        // Version 8 is for rules that an implementation defines: https://www.rfc-editor.org/rfc/rfc9562#section-5.8
        return UUID(
            high: number(0) & ~0xF000 | 0x8000, low: number(8) & ~(0b11 << 62) | 1 << 63)
    }
}
