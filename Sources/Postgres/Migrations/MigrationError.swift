/// Why the migrations could not be read or run; each says what to do.
package enum MigrationError: Error, Equatable, Sendable, CustomStringConvertible {
    case unreadable(String, String)
    case badName(String)
    case missingReason(String)
    case duplicateVersion(String, String)
    /// There is no migration of this version to go up to.
    case unknownTarget(Int64)
    /// Somebody else migrates this database; who, in words.
    case locked(by: String)
    /// Database and files do not fit together, so nothing was run.
    case mismatch([MigrationProblem])
    /// A migration failed. Those before it are done; of this one nothing is, if it is transactional.
    case failed(String, PostgresError)
    /// A migration ended the transaction that it ran in, so it is not known to be whole.
    case endedTransaction(String)
    case database(PostgresError)

    package var description: String {
        switch self {
        case .unreadable(let path, let reason): "\(path): \(reason)"
        case .badName(let file):
            "\(file): a migration is named YYYYMMDDhhmmss_name_in_lower_case.sql, in UTC"
        case .missingReason(let file): "\(file): the first line must be \"-- Why: \" and a reason"
        case .duplicateVersion(let one, let other):
            "\(one) and \(other) have the same time; give one of them another"
        case .unknownTarget(let version): "there is no migration \(version)"
        case .locked(let holder): "another migration is under way: \(holder)"
        case .mismatch(let problems): problems.map(\.description).joined(separator: "\n")
        case .failed(let file, let error): "\(file): \(error.description)"
        case .endedTransaction(let file):
            "\(file): it has COMMIT or ROLLBACK in it; take them out, or say -- no-transaction"
        case .database(let error): error.description
        }
    }
}

/// Something that does not fit between the files and what the database says has been run.
package enum MigrationProblem: Equatable, Sendable, CustomStringConvertible {
    /// The file has been changed since it was run.
    case drifted(String)
    /// The database has run one that there is no file for: this program is older than the database.
    case unknown(version: Int64, name: String)
    /// Not run, though a later one has been.
    case gap(String)

    package var description: String {
        switch self {
        case .drifted(let file):
            "\(file) was changed after it was run; put it back, and write a new migration"
        case .unknown(let version, let name):
            "the database has run \(version)_\(name), which is not here; use a newer version of this program"
        case .gap(let file): "\(file) has not been run, but a later one has"
        }
    }

    /// Whether nothing may be run before it is mended.
    var isBlocking: Bool {
        switch self {
        case .drifted, .unknown: true
        case .gap: false
        }
    }
}
