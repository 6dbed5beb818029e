import ArgumentParser
import Basics
import Config
import GraphQL
import Operations
import Postgres

/// `bookplate-admin documents`: manages the trusted documents.
struct Documents: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Manage the trusted documents: the operations of published apps.",
        discussion: """
            Clients refer to a document by ID (documentId) or by hash (persistedQuery), or send its exact text. With \
            BOOKPLATE_DOCUMENTS=only-known, the server executes no other documents. With BOOKPLATE_DOCUMENTS=logged, it \
            executes and logs them.
            """, subcommands: [Sync.self, List.self, Prune.self, Scopes.self])

    struct Sync: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Load a manifest of Apollo or Relay.",
            discussion: """
                All documents must be valid for the schema, otherwise none is loaded. Documents with introspection fields are \
                valid only with BOOKPLATE_INTROSPECTION=on. Documents of other manifests are kept, because older versions of \
                an app need them. Delete them with documents prune.

                Examples:
                  bookplate-admin documents sync persisted-query-manifest.json
                  bookplate-admin documents sync --dry-run relay/persisted.json
                """)

        @OptionGroup var output: OutputOptions
        @OptionGroup var dryRunOptions: DryRunOptions
        @ArgumentParser.Argument(help: "The path of the manifest.", completion: .file())
        var file: String

        /// The maximum number of problems that are printed individually.
        private static let printedProblemsMax = 20

        func run() throws {
            let bytes = try readFile(file)
            let manifest: DocumentManifest
            do throws(DocumentManifest.Problem) {
                manifest = try DocumentManifest(bytes)
            } catch {
                throw Failure("\(file): \(error.message)")
            }
            let configuration = try loadConfiguration()
            let problems = try manifest.problems(
                allowsIntrospection: configuration.introspection)
            guard problems.isEmpty else {
                for problem in problems.prefix(Self.printedProblemsMax) { printError(problem) }
                throw Failure(
                    "\(problems.count) documents are invalid, so nothing was loaded: correct them, and run the command again",
                    .found)
            }
            let connection = try connect(configuration)
            let synced = try dryRunOptions.attempt(connection) {
                try DocumentRecord.sync(manifest, connection)
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
                    "\(synced.verb("created", "create")) \(counts.created), "
                        + "\(synced.verb("updated", "update")) \(counts.updated), "
                        + "unchanged: \(counts.unchanged)"
                ] + synced.lines)
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the documents.",
            discussion: "Examples:\n  bookplate-admin documents list --json")

        @OptionGroup var output: OutputOptions

        func run() throws {
            let connection = try connect(try loadConfiguration())
            let documents = try DocumentRecord.all(connection)
            output.print(
                .list(documents.map(json)),
                Table(
                    ["id", "type", "name", "synchronized"],
                    documents.map { [$0.id, $0.kind ?? "", $0.name ?? "", $0.syncedAt] }))
        }
    }

    struct Prune: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete documents that were last synchronized a long time ago.",
            discussion: """
                The last synchronization is that of the last manifest with the document for which you have run documents sync. \
                Synchronize the manifests of all versions of apps that are in use before you run this command: Bookplate does not \
                record which documents apps use. Documents to which personal access tokens are bound are kept until the tokens are \
                revoked or expire. Servers may accept a deleted document for another minute.

                Examples:
                  bookplate-admin documents prune --dry-run
                  bookplate-admin documents prune --older-than 30 --yes
                """)

        @OptionGroup var output: OutputOptions
        @Option(
            help: "Delete only documents that were not synchronized for this number of days.")
        var olderThan: Int32 = 180
        @OptionGroup var dryRunOptions: DryRunOptions
        @OptionGroup var confirmation: ConfirmationOptions

        func validate() throws {
            guard olderThan >= 0 else {
                throw ValidationError("--older-than must not be negative.")
            }
        }

        func run() throws {
            let connection = try connect(try loadConfiguration())
            if !dryRunOptions.dryRun {
                try confirmation.confirm(
                    "This deletes documents that were not synchronized for \(olderThan) days.",
                    byTyping: "prune")
            }
            let pruned = try dryRunOptions.attempt(connection) {
                try DocumentRecord.prune(olderThanDays: olderThan, connection)
            }
            let (deleted, kept) = (pruned.result.deleted, pruned.result.kept)
            var lines = deleted.map { "\(pruned.verb("deleted", "delete")) \($0)" }
            if !kept.isEmpty {
                lines.append(
                    "\(pruned.verb("kept", "keep")) \(kept.count), because personal access tokens are bound to them: "
                        + kept.joined(separator: ", ")
                        + ". To delete them, revoke the tokens first: bookplate-admin token list --tenant SLUG --json shows their documents"
                )
            }
            output.print(
                .object(
                    [
                        .init("pruned", .list(deleted.map { .string($0) })),
                        .init("kept", .list(kept.map { .string($0) })),
                    ] + pruned.members),
                lines: lines + pruned.lines)
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
