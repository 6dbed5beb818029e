import ArgumentParser
import Bookplate
import Config
import GraphQL
import Objects
import Postgres

/// `bookplate-admin storage`: the files of covers beside the rows that name them.
struct Storage: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Looks after the files of covers.",
        subcommands: [Verify.self, Gc.self, Usage.self])

    /// The store that is configured.
    static func open(_ configuration: Configuration) throws(Failure) -> FileStore {
        guard case .folder(let path) = configuration.storage else {
            throw Failure(
                "BOOKPLATE_STORAGE is on S3, which this version cannot do: use file:PATH",
                .configuration)
        }
        do throws(ObjectError) {
            return try FileStore(path)
        } catch {
            throw Failure(
                "BOOKPLATE_STORAGE cannot be used: \(error.description)", .configuration)
        }
    }

    /// How young a file may be to be left alone.
    struct GraceOptions: ParsableArguments {
        @Option(
            name: .customLong("grace"),
            help: "Leave files alone that are younger than so many seconds.")
        var seconds = StorageSweep.graceSeconds

        func validate() throws {
            guard (0...31_536_000).contains(seconds) else {
                throw ValidationError("--grace is 0 to 31536000 seconds.")
            }
        }
    }

    /// Interrupted between two batches.
    static func check() throws(StorageError) {
        do throws(Failure) {
            try Interruption.check()
        } catch {
            throw .cancelled
        }
    }
}

extension Failure {
    init(_ error: StorageError) {
        switch error {
        case .database(let error): self.init(error)
        case .cancelled: self.init("interrupted: the same command goes on from here")
        case .store, .images, .foreign: self.init(error.message)
        }
    }
}

/// Tells an error of work on the store as a failure of the command.
func storing<Value>(
    _ work: () async throws(StorageError) -> Value
) async throws(Failure) -> Value {
    do throws(StorageError) {
        return try await work()
    } catch {
        throw Failure(error)
    }
}
