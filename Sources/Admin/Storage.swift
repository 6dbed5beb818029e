import ArgumentParser
import Bookplate
import Config
import GraphQL
import ObjectStorage
import Postgres

/// `bookplate-admin storage`: checks and cleans up the files of covers.
struct Storage: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check and clean up the files of covers.",
        subcommands: [Verify.self, Gc.self, Usage.self])

    /// Opens the configured store.
    static func open(_ configuration: Configuration) throws(Failure) -> FileStore {
        let path = configuration.storage.folder
        do throws(ObjectError) {
            return try FileStore(path)
        } catch {
            throw Failure(
                "BOOKPLATE_STORAGE cannot be used: \(error.description)", .configuration)
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
