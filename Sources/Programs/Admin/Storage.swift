import ArgumentParser
import Bookplate
import Config
import GraphQL
import ObjectStorage
import Postgres
import S3Storage

/// `bookplate-admin storage`: checks, cleans up, and copies the files of covers.
struct Storage: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check, clean up, and copy the files of covers.",
        subcommands: [Verify.self, Gc.self, Usage.self, Copy.self])

    /// Opens the configured store.
    static func open(_ configuration: Configuration) throws -> any ObjectStore {
        try open(configuration.storage, "BOOKPLATE_STORAGE", configuration)
    }

    /// Opens a store.
    ///
    /// - Parameter name: The name of the variable or the option, for the error.
    static func open(
        _ storage: Configuration.Storage, _ name: String, _ configuration: Configuration
    ) throws -> any ObjectStore {
        try open(storage, name, databaseURL: try configuration.database.adminRequired())
    }

    /// Opens a store.
    ///
    /// - Parameter databaseURL: The address of the database whose rows refer to the objects, for the owner's role.
    static func open(
        _ storage: Configuration.Storage, _ name: String, databaseURL: String
    ) throws -> any ObjectStore {
        let leases = DatabaseLeases(adminURL: databaseURL)
        do throws(ObjectError) {
            return try storage.open(leases: leases)
        } catch {
            throw Failure(
                "\(name) cannot be used: \(error.description). Run bookplate-admin doctor, which says what to do",
                .configuration)
        }
    }

    struct GraceOptions: ParsableArguments {
        @Option(
            name: .customLong("grace"),
            help: "Ignore files that are younger than this number of seconds.")
        var seconds = StorageSweep.graceSeconds

        func validate() throws {
            guard (0...31_536_000).contains(seconds) else {
                throw ValidationError("--grace must be from 0 to 31536000.")
            }
        }
    }

    /// Must be called between two batches.
    ///
    /// - Throws: `.cancelled` if the command has been interrupted.
    static func checkInterruption() throws(StorageError) {
        do throws(Failure) {
            try Interruption.check()
        } catch {
            throw .cancelled
        }
    }
}
