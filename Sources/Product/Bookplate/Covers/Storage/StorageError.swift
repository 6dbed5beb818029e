import JobQueue
import ObjectStorage
import Postgres

/// The error of an operation on the object store.
package enum StorageError: Error, Sendable {
    case store(ObjectError)
    case database(PostgresError)
    /// The store belongs to another database, so the operator has configured the wrong store or the wrong database.
    case foreign
    /// Images cannot be decoded; the value is the reason.
    case images(String)
    case cancelled
    /// Another process copies between stores of this database.
    case copying

    /// The error as a sentence for the operator.
    package var message: String {
        switch self {
        case .store(let error): error.description
        case .database(let error): JobError.database(error).message
        case .foreign:
            """
            the store belongs to another database: check that BOOKPLATE_STORAGE and the database URL belong to the \
            same installation
            """
        case .images(let reason): reason
        case .cancelled: "the operation was cancelled"
        case .copying: "another storage copy is running: wait until it has ended"
        }
    }
}
