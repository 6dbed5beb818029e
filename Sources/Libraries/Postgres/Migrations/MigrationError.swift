/// An error that prevents migrations from being read or run. The description says how to resolve it.
package enum MigrationError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The file or folder with this path cannot be read or written, for this reason.
    case unreadable(String, String)
    /// The name of a versioned file does not have the form `YYYYMMDDhhmmss_name.sql`.
    case badName(String)
    /// The name of a repeatable file has other characters than lower-case letters, digits, and underscores.
    case badRepeatableName(String)
    /// The first line of a versioned file is not a comment with its reason.
    case missingReason(String)
    /// The first line of a repeatable file is not a list of names.
    case badRequirements(String)
    /// A repeatable file requires a file that does not exist.
    case unknownRequirement(String, String)
    /// Repeatable files require each other. The first name is also the last one.
    case requirementCycle([String])
    /// Two versioned files have the same version.
    case duplicateVersion(String, String)
    /// The newest migration is dated later than the current time, so a new file would run before it.
    case datedInTheFuture(String)
    /// No migration has the version that was requested as the target.
    case unknownTarget(Int64)
    /// Another session is migrating this database; carries a description of it.
    case locked(by: String)
    /// The files contradict the database's records, so nothing was run.
    case mismatch([MigrationProblem])
    /// A migration failed. Earlier migrations are committed; this one is rolled back if transactional.
    case failed(String, PostgresError)
    /// A function does not fit the migrated tables, so its transaction was rolled back.
    case invalidFunction(String, PostgresError)
    /// A migration ended the transaction that it ran in, so it may be applied only partly.
    case endedTransaction(String)
    /// A statement of the migrator failed, not one of a migration.
    case database(PostgresError)

    package var description: String {
        switch self {
        case .unreadable(let path, let reason): "\(path): \(reason)"
        case .badName(let file):
            "\(file): the name of a migration must be YYYYMMDDhhmmss_name_in_lower_case.sql, in UTC"
        case .badRepeatableName(let file):
            "\(file): the name of a repeatable file must have only lower-case letters, digits, and underscores"
        case .missingReason(let file):
            "\(file): the first line must be \"-- Why: \" followed by the reason for the migration"
        case .badRequirements(let file):
            "\(file): the first line must list names of files without .sql, such as \"-- requires: accounts, jobs\""
        case .unknownRequirement(let file, let name):
            "\(file) requires \(name), but \(RepeatableFile.fileName(name)) does not exist"
        case .requirementCycle(let names):
            "the files in \(RepeatableFile.folderName) require each other: \(names.joined(separator: " requires "))"
        case .duplicateVersion(let one, let other):
            "\(one) and \(other) have the same version; rename one of them"
        case .datedInTheFuture(let file):
            "\(file) is dated later than the current time; correct the clock, or rename the file to the time of its creation"
        case .unknownTarget(let version): "no migration has the version \(version)"
        case .locked(let holder):
            "another migration is running, wait until it has ended: \(holder)"
        case .mismatch(let problems): problems.map(\.description).joined(separator: "\n")
        case .failed(let file, let error): "\(file): \(error.description)"
        case .invalidFunction(let function, let error):
            "the function \(function) does not fit the migrated tables: \(error.description)"
        case .endedTransaction(let file):
            "\(file) contains COMMIT or ROLLBACK; remove them"
                + (file.hasPrefix(RepeatableFile.folderName)
                    ? "" : ", or add the line -- no-transaction")
        case .database(let error): error.description
        }
    }

    /// Whether the migration can succeed when it is tried again: it did not get a lock, or there was a deadlock.
    var isTransient: Bool {
        switch self {
        case .failed(_, let error), .invalidFunction(_, let error):
            [.lockNotAvailable, .deadlockDetected].contains(error.sqlState)
        default: false
        }
    }
}

/// A contradiction between the migration files and the migrations recorded in the database.
package enum MigrationProblem: Equatable, Sendable, CustomStringConvertible {
    /// The file was changed after it was run.
    case drifted(String)
    /// The database has run a migration without a file: this program is older than the database.
    case unknown(version: Int64, name: String)
    /// The migration has not been run, although a later one has. Running it now would be a different order than in other databases, and
    /// `schema_states` does not show that it is missing.
    case gap(String)
    /// The database had exactly these repeatable files before it got others: this program is older than the
    /// database.
    case earlierFunctions
    /// A repeatable file was applied and does not exist anymore.
    case missingFunctions(String)

    package var description: String {
        switch self {
        case .drifted(let file):
            "\(file) was changed after it was run; restore it and put the change into a new migration"
        case .unknown(let version, let name):
            "the database has run \(version)_\(name), which this program does not contain; use a newer version of the program"
        case .gap(let file):
            "\(file) has not been run, although a later migration has; rename it to the current UTC time, as in the names of migrate new"
        case .earlierFunctions:
            "the files in \(RepeatableFile.folderName) are older than those that the database has; use a newer version of "
                + "the program, or apply them with migrate up --allow-earlier-functions"
        case .missingFunctions(let name):
            "\(RepeatableFile.fileName(name)) was applied and does not exist anymore; a versioned migration must drop what "
                + "it created, and migrate up removes its record"
        }
    }

    /// Whether the problem must be fixed before any migration is run.
    var isBlocking: Bool {
        switch self {
        case .drifted, .unknown, .gap, .earlierFunctions: true
        case .missingFunctions: false
        }
    }
}
