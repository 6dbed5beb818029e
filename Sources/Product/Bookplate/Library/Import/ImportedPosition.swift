import GraphQL
import Postgres
import Requests

/// A file of a reader that KOReader has reported, from a Bookplate library.
struct ImportedDocument: Equatable {
    var id: UUID
    var hash: String
    /// The id of the linked book in the file. The library may have the book with another one.
    var bookID: UUID?
    var title: String?
    var author: String?
    var progress: String
    /// From 0 to 100.
    var percent: Double
    var deviceName: String
    var deviceID: String?
    var createdAt: Instant?
    var syncedAt: Instant?

    /// The document as an element of the parameter of the SQL function `import_documents`.
    var json: Value {
        var members: [Value.Member] = [
            .init("id", .string(id.description)), .init("hash", .string(hash)),
            .init("title", .text(title)), .init("author", .text(author)),
            .init("progress", .string(progress)), .init("percent", .float(percent)),
            .init("deviceName", .string(deviceName)), .init("deviceId", .text(deviceID)),
        ]
        if let bookID { members.append(.init("bookId", .string(bookID.description))) }
        if let createdAt { members.append(.init("createdAt", .string(createdAt.preciseText))) }
        if let syncedAt { members.append(.init("syncedAt", .string(syncedAt.preciseText))) }
        return .object(members)
    }
}

/// The last position in a book that an e-reader has reported, from a Bookplate library.
struct ImportedPosition: Equatable {
    /// The id of the book in the file. The library may have the book with another one.
    var bookID: UUID
    var modifiedAt: Instant
    /// From 0 to 100.
    var percent: Double
    var deviceID: String
    var deviceName: String
    var title: String?
    var references: [String]?

    /// The position as an element of the parameter of the SQL function `import_positions`.
    var json: Value {
        .object([
            .init("bookId", .string(bookID.description)),
            .init("modifiedAt", .string(modifiedAt.preciseText)),
            .init("percent", .float(percent)), .init("deviceId", .string(deviceID)),
            .init("deviceName", .string(deviceName)), .init("title", .text(title)),
            .init("references", references.map { .list($0.map { .string($0) }) } ?? .null),
        ])
    }
}

extension BookplateMembers {
    /// The document of an e-reader whose JSON object has these members.
    ///
    /// - Throws: If a required member is missing.
    var document: ImportedDocument {
        get throws(ImportProblem) {
            guard let id = id("id"),
                let hash = exactText("hash", max: KOReaderPosition.hashCharactersMax),
                KOReaderPosition.isDocument(hash),
                let progress = exactText("progress", max: KOReaderPosition.progressCharactersMax),
                let device = exactText("deviceName", max: KOReaderPosition.deviceCharactersMax),
                case .percent(let percent)? = position
            else {
                throw ImportProblem(
                    "id, hash, progress, percent, or deviceName is missing. The document was left out."
                )
            }
            return ImportedDocument(
                id: id, hash: hash, bookID: self.id("bookId"),
                title: text("title", max: KOReaderPosition.titleCharactersMax),
                author: text("author", max: KOReaderPosition.titleCharactersMax),
                progress: progress, percent: percent, deviceName: device,
                deviceID: exactText("deviceId", max: KOReaderPosition.deviceCharactersMax),
                createdAt: instant("createdAt"), syncedAt: instant("syncedAt"))
        }
    }

    /// The position of an e-reader whose JSON object has these members.
    ///
    /// - Throws: If a required member is missing.
    var ereaderPosition: ImportedPosition {
        get throws(ImportProblem) {
            guard let book = id("bookId"), let modifiedAt = instant("modifiedAt"),
                let device = exactText("deviceId", max: ProgressionDocument.textCharactersMax),
                let deviceName = exactText(
                    "deviceName", max: ProgressionDocument.deviceNameCharactersMax),
                case .percent(let percent)? = position
            else {
                throw ImportProblem(
                    "bookId, modifiedAt, percent, deviceId, or deviceName is missing. The position was left out."
                )
            }
            return ImportedPosition(
                bookID: book, modifiedAt: modifiedAt, percent: percent, deviceID: device,
                deviceName: deviceName,
                title: exactText("title", max: ProgressionDocument.textCharactersMax),
                references: exactTexts(
                    "references", countMax: ProgressionDocument.referencesMax,
                    max: ProgressionDocument.referenceCharactersMax))
        }
    }
}
