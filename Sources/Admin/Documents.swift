import ArgumentParser
import Bookplate
import Config
import FoundationEssentials
import GraphQL
import Postgres

/// `bookplate-admin documents`: the trusted documents.
struct Documents: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "The operations that apps were published with.",
        discussion: """
            Clients name them by id (documentId), by hash (persistedQuery), or send the very text. With
            BOOKPLATE_DOCUMENTS=only-known the server runs no others; with =logged it logs the others.
            """, subcommands: [Sync.self, List.self, Prune.self])

    struct Sync: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Loads a manifest, Apollo's or Relay's.",
            discussion: """
                Every document must be valid for the schema, or nothing is loaded. A document that
                introspects the schema is valid only with BOOKPLATE_INTROSPECTION=on. Documents of other
                manifests stay because older versions of an app need them; prune deletes them.

                Examples:
                  bookplate-admin documents sync persisted-query-manifest.json
                  bookplate-admin documents sync --dry-run relay/persisted.json
                """)

        @OptionGroup var output: OutputOptions
        @OptionGroup var trial: DryRunOptions
        @ArgumentParser.Argument(help: "The manifest.")
        var file: String

        /// Problems that are told one by one.
        private static let toldMax = 20

        func run() throws {
            guard let data = try? Data(contentsOf: URL(filePath: file)) else {
                throw Failure("\(file) cannot be read")
            }
            let manifest: DocumentManifest
            do throws(DocumentManifest.Problem) {
                manifest = try DocumentManifest(Array(data))
            } catch {
                throw Failure("\(file): \(error.message)")
            }
            let configuration = try loadConfiguration()
            let schema = try BookplateSchema(sdl: BookplateSchema.text).schema
            var options = ValidationOptions(allowsIntrospection: configuration.introspection)
            options.hasSuggestions = true
            let problems = manifest.problems(with: schema, options: options)
            guard problems.isEmpty else {
                for problem in problems.prefix(Self.toldMax) { tell(problem) }
                throw Failure(
                    "\(problems.count) documents are not valid: nothing was loaded", .found)
            }
            let connection = try connect(configuration)
            let synced = try trial.attempt(connection) { () throws(AdministrationError) in
                try asking { () throws(PostgresError) in
                    try DocumentRecord.sync(manifest, connection)
                }
            }
            let counts = synced.result
            output.print(
                .object(
                    [
                        .init("created", .int(counts.created)),
                        .init("updated", .int(counts.updated)),
                        .init("unchanged", .int(counts.unchanged)),
                    ] + synced.members),
                lines: [
                    "\(counts.created) new, \(counts.updated) changed, \(counts.unchanged) unchanged"
                ] + synced.lines)
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists the documents.",
            discussion: "Examples:\n  bookplate-admin documents list --json")

        @OptionGroup var output: OutputOptions

        func run() throws {
            let connection = try connect(try loadConfiguration())
            let documents = try database { () throws(PostgresError) in
                try DocumentRecord.all(connection)
            }
            output.print(
                .list(documents.map(json)),
                lines: documents.map {
                    "\($0.id)\t\($0.kind ?? "")\t\($0.name ?? "")\t\($0.syncedAt)"
                })
        }
    }

    struct Prune: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Deletes documents that no manifest has any more.",
            discussion: """
                A server may run a deleted document for a minute more.

                Examples:
                  bookplate-admin documents prune --dry-run
                  bookplate-admin documents prune --older-than 30 --yes
                """)

        @OptionGroup var output: OutputOptions
        @Option(help: "Only those that were in no manifest for so many days.")
        var olderThan: Int32 = 180
        @OptionGroup var trial: DryRunOptions
        @OptionGroup var confirmation: ConfirmationOptions

        func validate() throws {
            guard olderThan >= 0 else { throw ValidationError("Days are not negative.") }
        }

        func run() throws {
            let connection = try connect(try loadConfiguration())
            if !trial.dryRun {
                try confirmation.confirm(
                    "This deletes documents that were in no manifest for \(olderThan) days.",
                    byTyping: "prune")
            }
            let pruned = try trial.attempt(connection) { () throws(AdministrationError) in
                try asking { () throws(PostgresError) in
                    try DocumentRecord.prune(olderThanDays: olderThan, connection)
                }
            }
            output.print(
                .object(
                    [.init("pruned", .list(pruned.result.map { .string($0) }))] + pruned.members),
                lines: pruned.result.map { "deleted \($0)" } + pruned.lines)
        }
    }

    private static func json(_ document: DocumentRecord) -> Value {
        func text(_ value: String?) -> Value { value.map { .string($0) } ?? .null }
        return .object([
            .init("id", .string(document.id)), .init("sha256", .string(document.sha256)),
            .init("name", text(document.name)), .init("type", text(document.kind)),
            .init("bytes", .int(document.bytesCount)),
            .init("createdAt", .string(document.createdAt)),
            .init("syncedAt", .string(document.syncedAt)),
        ])
    }
}
