import ArgumentParser
import Bookplate
import Config
import GraphQL
import Glibc
import Objects
import Postgres

extension Account {
    struct Export: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Writes all that an account has into a zip of JSON, CSV and covers.",
            discussion: """
                The same archive as the reader's own export. The file is readable by you alone, and appears when it
                is whole.

                Examples:
                  bookplate-admin account export 0198c0de-0000-7000-8000-000000000001
                  bookplate-admin account export 0198c0de-0000-7000-8000-000000000001 --to ada.zip --json
                """)

        @OptionGroup var output: OutputOptions
        @OptionGroup var account: AccountArgument
        @Option(name: .customLong("to"), help: "The file; account-ID.zip by default.")
        var path: String?

        func run() throws {
            let id = try account.id
            let configuration = try loadConfiguration()
            guard case .folder(let folder) = configuration.storage else {
                throw Failure(
                    "BOOKPLATE_STORAGE is on S3, which this version cannot read: use file:PATH",
                    .configuration)
            }
            let connection = try connect(configuration)
            _ = try administer { () throws(AdministrationError) in
                try AccountRecord.show(id, connection)
            }
            let path = self.path ?? "account-\(id).zip"
            let byteCount = try written(to: path) { descriptor throws(Failure) in
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
                ]), lines: ["wrote \(path), \(byteCount) bytes"])
        }

        /// Writes a file that has its name only when it is whole.
        ///
        /// - Returns: its size in bytes.
        private func written(
            to path: String, _ write: (Int32) throws(Failure) -> Void
        ) throws(Failure) -> Int {
            let unfinished = path + ".part"
            let descriptor = open(unfinished, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw Failure("\(path) cannot be written") }
            defer { close(descriptor) }
            do throws(Failure) {
                try write(descriptor)
                var status = stat()
                guard fsync(descriptor) == 0, fstat(descriptor, &status) == 0,
                    rename(unfinished, path) == 0
                else { throw Failure("\(path) cannot be written") }
                return Int(status.st_size)
            } catch {
                unlink(unfinished)
                throw error
            }
        }
    }
}
