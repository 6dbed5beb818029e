import ArgumentParser
import Bookplate
import Config
import GraphQL
import ObjectStorage
import Operations
import Postgres

extension Account {
    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Export all data of an account to a ZIP archive of JSON, CSV, and covers.",
            discussion: """
                Writes the same archive as the export in the app. Only you can read the file. It gets its name when it is \
                complete.

                Examples:
                  bookplate-admin account export 0198c0de-0000-7000-8000-000000000001
                  bookplate-admin account export 0198c0de-0000-7000-8000-000000000001 \\
                    --to ada.zip --json
                """)

        @OptionGroup var output: OutputOptions
        @OptionGroup var account: AccountArgument
        @Option(
            name: .customLong("to"), help: "The path of the archive (default: account-ID.zip).",
            completion: .file(extensions: ["zip"]))
        var path: String?

        func run() async throws {
            let id = try account.id
            let configuration = try loadConfiguration()
            let connection = try connect(configuration)
            _ = try AccountRecord.show(id, connection)
            let path = self.path ?? "account-\(id).zip"
            let store = try Storage.open(configuration)
            let byteCount: Int
            do throws(LibraryExportError) {
                byteCount = try await Progress.showing("exporting the account") {
                    () async throws(LibraryExportError) in
                    try await LibraryExport.write(of: id, toFile: path, connection, store: store)
                }
            } catch {
                switch error {
                case .database(let error): throw Failure(error)
                case .archive(let error):
                    throw Failure(
                        "\(path) cannot be written: \(error). Use another path with --to")
                case .store(let error):
                    throw Failure(
                        "the covers cannot be read: \(error.description). Run bookplate-admin doctor, which says what to do"
                    )
                case .file:
                    throw Failure(
                        "\(path) cannot be written: check the permissions of its folder, or use another path with --to"
                    )
                }
            }
            output.print(
                .object([
                    .init("id", .string(id.description)), .init("file", .string(path)),
                    .init("bytes", .int(byteCount)),
                ]), lines: ["wrote \(path) (\(ByteCount.text(byteCount)))"])
        }
    }
}
