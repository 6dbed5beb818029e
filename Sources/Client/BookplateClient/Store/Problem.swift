import Foundation
import GRDB

/// A change by the reader that the server did not accept. It has been undone on this device, unless `isWaiting` is true.
///
/// Problems are stored until the app dismisses them.
public struct Problem: Codable, Hashable, Identifiable, Sendable, FetchableRecord, PersistableRecord
{
    /// The name of the table in the local database.
    public static let databaseTableName = "problem"

    /// The number of the problem.
    public let id: Int64?
    /// The position of a waiting write.
    let write: Int64?
    /// The name of the mutation, such as `createShelf`.
    public let operation: String
    /// The id of the object that it was about.
    public let target: String
    /// A description of the problem that can be shown to the reader.
    public let message: String
    /// The kind of the error.
    public let code: ErrorCode
    /// Why the input is refused; nil for errors that only have a code.
    public let reason: ErrorReason?
    /// The smallest value that is allowed, if there is one.
    public let min: Double?
    /// The largest value, length, or number of entries that is allowed, if there is one.
    public let max: Double?
    /// The field of the input that is wrong.
    public let field: String?
    /// The object that the library has already. Later changes have been applied to it, unless they deleted the new object.
    public let existingID: String?
    /// Everything that was undone: the refused change, and those that depended on it. Empty if nothing was, for example because a scanned
    /// book without a known title stays in the library.
    public let undone: [Change]
    /// The time of the report.
    public let at: Timestamp

    /// Whether the change is still queued, because this version of the app does not know the error. `Library.dismiss` discards it.
    public var isWaiting: Bool { write != nil }

    /// A change by the reader.
    public struct Change: Codable, Hashable, Sendable {
        /// The name of the mutation.
        public let operation: String
        /// The id of the object that it was about.
        public let target: String
    }

    init(
        _ error: ServerError, about subject: Write? = nil, undone: [Write], write: Int64?,
        at: Timestamp
    ) {
        let subject = subject ?? undone.first
        id = nil
        self.write = write
        operation = subject?.operation.rawValue ?? ""
        target = subject?.target ?? ""
        message = error.message
        code = error.code
        reason = error.reason
        min = error.min
        max = error.max
        field = error.field
        existingID = error.existingID
        self.undone = undone.map { Change(operation: $0.operation.rawValue, target: $0.target) }
        self.at = at
    }

    /// Removes the oldest problems of an app that never dismisses any.
    static func trim(_ db: Database) throws {
        try db.execute(
            sql: "DELETE FROM problem WHERE id <= (SELECT max(id) FROM problem) - 1000")
    }
}
