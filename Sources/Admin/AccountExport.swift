import ArgumentParser
import Bookplate
import Config
import Glibc
import GraphQL
import ObjectStorage
import Postgres

extension Account {
    struct Export: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Export all data of an account to a ZIP archive of JSON, CSV, and covers.",
            discussion: """
                Writes the same archive as the export in the app. Only you can read the file. It gets its name when it is \
                complete.

                Examples:
                  bookplate-admin account export 0198c0de-0000-7000-8000-000000000001
                  bookplate-admin account export 0198c0de-0000-7000-8000-000000000001 --to ada.zip --json
                """)

        @OptionGroup var output: OutputOptions
        @OptionGroup var account: AccountArgument
        @Option(name: .customLong("to"), help: "The path of the archive (default: account-ID.zip).")
        var path: String?

        func run() throws {
            let id = try account.id
            let configuration = try loadConfiguration()
            guard case .folder(let folder) = configuration.storage else {
                throw Failure(
                    "BOOKPLATE_STORAGE is on S3, which this version does not support: use file:PATH",
                    .configuration)
            }
            let connection = try connect(configuration)
            _ = try AccountRecord.show(id, connection)
            let path = self.path ?? "account-\(id).zip"
            let byteCount = try writeFile(path) { descriptor in
                let store: FileStore
                do throws(ObjectError) {
                    store = try FileStore(folder)
                } catch {
                    throw Failure("BOOKPLATE_STORAGE cannot be used: \(error.description)")
                }
                do throws(LibraryExportError) {
                    try LibraryExport.write(of: id, to: descriptor, connection, store: store)
                } catch {
                    switch error {
                    case .database(let error): throw Failure(error)
                    case .archive(let error): throw Failure("\(path) cannot be written: \(error)")
                    }
                }
            }
            output.print(
                .object([
                    .init("id", .string(id.description)), .init("file", .string(path)),
                    .init("bytes", .int(byteCount)),
                ]), lines: ["wrote \(path) (\(byteCount) bytes)"])
        }

        /// Writes a file under a temporary name and renames it when it is complete.
        ///
        /// - Returns: The size of the file in bytes.
        private func writeFile(_ path: String, _ write: (Int32) throws -> Void) throws -> Int {
            let temporaryPath = path + ".part"
            let descriptor = open(temporaryPath, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw Failure("\(path) cannot be written") }
            defer { close(descriptor) }
            do {
                try write(descriptor)
                var status = stat()
                guard fsync(descriptor) == 0, fstat(descriptor, &status) == 0,
                    rename(temporaryPath, path) == 0
                else { throw Failure("\(path) cannot be written") }
                return Int(status.st_size)
            } catch {
                unlink(temporaryPath)
                throw error
            }
        }
    }
}
